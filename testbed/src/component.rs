//! The processes of one control plane: what each is called with, and when it is ready.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A process of a control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Component {
    /// The store.
    Etcd,
    /// `kube-apiserver`.
    ApiServer,
    /// `kube-controller-manager`: Deployments, garbage collection, quota, HPAs and so on.
    ControllerManager,
    /// `kube-scheduler`.
    Scheduler,
    /// `kwok`: plays the nodes' part, so that pods become ready or fail.
    Kwok,
}

impl Component {
    /// All of them, in the order in which they start.
    pub const ALL: [Component; 5] = [
        Component::Etcd,
        Component::ApiServer,
        Component::ControllerManager,
        Component::Scheduler,
        Component::Kwok,
    ];

    /// The name of its binary and of its log file.
    pub fn binary(self) -> &'static str {
        match self {
            Component::Etcd => "etcd",
            Component::ApiServer => "kube-apiserver",
            Component::ControllerManager => "kube-controller-manager",
            Component::Scheduler => "kube-scheduler",
            Component::Kwok => "kwok",
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.binary())
    }
}

/// The ports of a control plane, all on 127.0.0.1. Chosen when it is made, and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ports {
    pub(crate) etcd: u16,
    pub(crate) etcd_peer: u16,
    pub(crate) api_server: u16,
    pub(crate) controller_manager: u16,
    pub(crate) scheduler: u16,
}

impl Ports {
    pub(crate) fn all(&self) -> [u16; 5] {
        [self.etcd, self.etcd_peer, self.api_server, self.controller_manager, self.scheduler]
    }
}

/// The command line of a component of the cluster whose folder is `folder`.
pub(crate) fn arguments(component: Component, folder: &Path, ports: &Ports) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    let pki = |name: &str| folder.join("pki").join(name).display().to_string();
    let http = |port: u16| format!("http://127.0.0.1:{port}");
    match component {
        Component::Etcd => vec![
            "--name=default".to_owned(),
            format!("--data-dir={}", file("etcd")),
            format!("--listen-client-urls={}", http(ports.etcd)),
            format!("--advertise-client-urls={}", http(ports.etcd)),
            format!("--listen-peer-urls={}", http(ports.etcd_peer)),
            format!("--initial-advertise-peer-urls={}", http(ports.etcd_peer)),
            format!("--initial-cluster=default={}", http(ports.etcd_peer)),
            // A machine that loses power may lose a test cluster.
            "--unsafe-no-fsync".to_owned(),
            "--log-level=warn".to_owned(),
        ],
        Component::ApiServer => vec![
            format!("--etcd-servers={}", http(ports.etcd)),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--secure-port={}", ports.api_server),
            format!("--tls-cert-file={}", pki("server.crt")),
            format!("--tls-private-key-file={}", pki("server.key")),
            format!("--client-ca-file={}", pki("ca.crt")),
            format!("--service-account-key-file={}", pki("sa.pub")),
            format!("--service-account-signing-key-file={}", pki("sa.key")),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            "--profiling=false".to_owned(),
        ],
        Component::ControllerManager => vec![
            format!("--kubeconfig={}", file("kubeconfig")),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", ports.controller_manager),
            format!("--service-account-private-key-file={}", pki("sa.key")),
            format!("--root-ca-file={}", pki("ca.crt")),
            "--leader-elect=false".to_owned(),
            // Without node-lifecycle-controller nodes would keep their not-ready taint, and pods stay Pending.
            "--controllers=*,-node-ipam-controller,-node-route-controller,-service-lb-controller,\
             -certificatesigningrequest-signing-controller"
                .to_owned(),
            // The default, 15 s, is too long for tests.
            "--horizontal-pod-autoscaler-sync-period=1s".to_owned(),
            "--profiling=false".to_owned(),
        ],
        Component::Scheduler => vec![
            format!("--kubeconfig={}", file("kubeconfig")),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", ports.scheduler),
            "--leader-elect=false".to_owned(),
            "--profiling=false".to_owned(),
        ],
        Component::Kwok => vec![
            format!("--kubeconfig={}", file("kubeconfig")),
            "--manage-all-nodes".to_owned(),
            "--node-lease-duration-seconds=40".to_owned(),
            // Pods in numbers that tests never reach; outside the range of services.
            "--cidr=10.128.0.0/16".to_owned(),
            format!("--config={}", file("stages.yaml")),
        ],
    }
}

/// What kwok's nodes and pods do.
pub(crate) const STAGES: &str = concat!(
    include_str!("../stages/node-initialize.yaml"),
    "\n---\n",
    include_str!("../stages/pods.yaml"),
    "\n---\n",
    include_str!("../stages/pod-complete.yaml"),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_listens_on_loopback_alone_and_on_ports_of_its_own() {
        let ports =
            Ports { etcd: 1, etcd_peer: 2, api_server: 3, controller_manager: 4, scheduler: 5 };
        for component in Component::ALL {
            let arguments = arguments(component, Path::new("/run"), &ports);
            for argument in &arguments {
                for (_, host) in
                    argument.match_indices("http://").map(|(i, s)| (i, &argument[i + s.len()..]))
                {
                    assert!(host.starts_with("127.0.0.1:"), "{argument}");
                }
            }
            let binds = arguments.iter().any(|a| a == "--bind-address=127.0.0.1");
            let listens = arguments.iter().any(|a| a.starts_with("--secure-port="));
            assert_eq!(binds, listens, "{component}");
        }
        assert_eq!(ports.all(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn stages_are_separate_documents_and_each_name_is_there_once() {
        let names: Vec<&str> = STAGES
            .split("\n---\n")
            .map(|document| {
                let inline =
                    document.split("metadata: {name: ").nth(1).and_then(|t| t.split('}').next());
                inline
                    .or_else(|| document.split("metadata:\n  name: ").nth(1)?.lines().next())
                    .unwrap()
            })
            .collect();
        assert_eq!(
            names,
            [
                "node-initialize",
                "pod-ready",
                "pod-never-ready",
                "pod-image-pull-error",
                "pod-crash-loop",
                "pod-delete-slowly",
                "pod-complete"
            ]
        );
    }
}
