//! What the server says an apply of one object would change: by dry runs, with takes predicted and
//! what is left to others as it is.

use serde_json::Value;

use super::assess::Scene;
use crate::cluster::{Apply, CallError, CallErrorKind, FieldConflict, Refusal, Resource};
use crate::error::Error;
use crate::manifest::ObjectId;
use crate::ownership::{
    FieldPath, Judgement, Revert, entries, helm_release, keep, kept_as_one, our_entry,
    predict_take, rekeyed, remove_path, with_new_items, without_new_items,
};
use crate::plan::{Action, Handling, ObjectPlan, Unverified, is_protected, moves_traffic};

impl Scene {
    /// Asks the server what an apply would change, and fills the plan in. Says whether we own just
    /// what we would own after it.
    pub(super) async fn ask(
        &self,
        plan: &mut ObjectPlan,
        resource: &Resource,
        live: &Value,
    ) -> Result<bool, Error> {
        let manager = self.job.names.manager.as_str();
        plan.warnings.clear();
        plan.ownership.force = false;
        // What is given up before the apply is asked for as it is: left out it would be reset, or
        // missing, since the server does not know yet that it is no longer ours (A5.2).
        let mut asked = plan.manifest.clone();
        keep(&mut asked, &plan.ownership.relinquish, live);
        for path in &plan.ownership.emptied {
            remove_path(&mut asked, path);
        }
        without_new_items(&mut asked, live, &plan.ownership.rekeyed);
        let mut conflicts: Vec<FieldConflict> = Vec::new();
        let mut answer = match self.dry_run(resource, &plan.id, &asked, false).await {
            Ok(answer) => Some(answer),
            Err(CallError { kind: CallErrorKind::Refused(Refusal::Conflict(found)), .. }) => {
                conflicts = found;
                None
            }
            Err(error) if self.is_rekeyed(plan, live, &error) => {
                return Box::pin(self.ask(plan, resource, live)).await;
            }
            Err(error) => {
                self.refuse_change(plan, live, error)?;
                return Ok(false);
            }
        };
        if answer.is_none() {
            plan.ownership.force = true;
            match self.dry_run(resource, &plan.id, &asked, true).await {
                Ok(forced) => answer = Some(forced),
                Err(error) if self.is_rekeyed(plan, live, &error) => {
                    return Box::pin(self.ask(plan, resource, live)).await;
                }
                Err(error) => {
                    self.refuse_change(plan, live, error)?;
                    return Ok(false);
                }
            }
        }
        let Some(answer) = answer else { return Ok(false) };
        plan.warnings.extend(answer.warnings.iter().map(|w| self.job.scrubber.scrub(w)));
        let mut after = answer.object;
        if let Some(error) = self.kept_whole(plan, &after) {
            plan.action = Action::Refused(error);
            return Ok(false);
        }
        // Of an object without managedFields the server makes the owner up, for the apply.
        let made_up = entries(live).is_empty().then(|| after.clone());
        let before = made_up.as_ref().unwrap_or(live);
        let Judgement { take, revert, mut stop, adopt, marks, .. } =
            self.judge(before, &conflicts, plan.handling);
        stop.extend(self.other_application(live));
        let ours = |object: &Value| our_entry(object, manager).map(|own| own.fields);
        let owned = ours(&after) == ours(live);
        plan.ownership.helm_release = if adopt.is_empty() { None } else { helm_release(live) };
        plan.ownership.adopt = adopt;
        plan.ownership.marks = marks;
        for path in &plan.ownership.emptied {
            if path.get(&after).is_none() {
                keep(&mut after, std::slice::from_ref(path), &plan.manifest);
            }
        }
        with_new_items(&mut after, &plan.manifest, &plan.ownership.rekeyed);
        let taken = (take.as_slice(), plan.ownership.marks.as_slice());
        if !taken.0.is_empty() || !taken.1.is_empty() || !plan.ownership.rekeyed.is_empty() {
            match self.predict(plan, resource, (before, live), &after, taken).await {
                Ok(predicted) => after = predicted,
                Err(error) => {
                    self.refuse_change(plan, live, error)?;
                    return Ok(false);
                }
            }
            plan.ownership.take.clear();
            for entry in entries(before).iter().filter(|entry| take.contains(&entry.index)) {
                plan.ownership.take.push(entry.who());
                // What is taken and then omitted would be reset; so it is given up in between.
                for path in plan.leaves.iter().filter_map(|path| entry.fields.spelled(path)) {
                    if !plan.ownership.relinquish.contains(&path) {
                        plan.ownership.relinquish.push(path);
                    }
                }
            }
        }
        keep(&mut after, &self.left_out(plan), live);
        plan.ownership.reverts = revert;
        for item in &plan.ownership.rekeyed {
            plan.ownership.reverts.push(Revert {
                manager: item.manager.clone(),
                time: item.time.clone(),
                fields: vec![item.item.clone()],
            });
        }
        plan.diff = self.diff(&plan.id, Some(live), Some(&after));
        plan.after_health = moves_traffic(&plan.gvk, &plan.diff);
        plan.action = if !stop.is_empty() {
            Action::Stopped(stop)
        } else if plan.diff.changes.is_empty()
            && plan.ownership.take.is_empty()
            && plan.ownership.marks.is_empty()
            && plan.ownership.relinquish.is_empty()
        {
            Action::Unchanged
        } else {
            Action::Change
        };
        Ok(owned)
    }

    /// Whether the refusal comes of items whose keys hands have changed; then the plan makes them
    /// ours.
    fn is_rekeyed(&self, plan: &mut ObjectPlan, live: &Value, error: &CallError) -> bool {
        let Some(Refusal::Invalid { causes }) = error.refusal() else { return false };
        if !plan.ownership.rekeyed.is_empty() {
            return false;
        }
        let judged = self.judge(live, &[], plan.handling);
        plan.ownership.rekeyed = rekeyed(live, &plan.manifest, causes, &judged);
        !plan.ownership.rekeyed.is_empty()
    }

    /// What is left to others and not sent: all but what is in an item of a list that is new.
    fn left_out(&self, plan: &ObjectPlan) -> Vec<FieldPath> {
        let sent = |path: &&FieldPath| path.get_in_manifest(&plan.manifest).is_none();
        plan.leaves.iter().filter(sent).cloned().collect()
    }

    /// What the object will be after a take and the apply: by a PUT dry run of the prediction, so
    /// that defaults and admission show too (A3.8).
    async fn predict(
        &self,
        plan: &ObjectPlan,
        resource: &Resource,
        (before, live): (&Value, &Value),
        answer: &Value,
        (take, marks): (&[usize], &[FieldPath]),
    ) -> Result<Value, CallError> {
        let manager = self.job.names.manager.as_str();
        // Only these refuse a PUT without it; elsewhere a controller's write would be a conflict.
        let with_version = plan.gvk.group.contains('.') || plan.gvk.kind == "PodDisruptionBudget";
        let mut predicted = predict_take(before, answer, take, marks, manager, with_version);
        keep(&mut predicted, &self.left_out(plan), live);
        let id = &plan.id;
        let put = self.job.cluster.replace(
            resource,
            id.namespace.as_deref(),
            &id.name,
            &predicted,
            manager,
            true,
        );
        match put.await {
            // The prediction alone is nearly as good; a conflict with a controller's write, or a
            // missing right to update, must not hide it.
            Err(error)
                if matches!(error.refusal(), Some(Refusal::Moved | Refusal::Forbidden { .. })) =>
            {
                Ok(predicted)
            }
            put => put,
        }
    }

    pub(super) async fn dry_run(
        &self,
        resource: &Resource,
        id: &ObjectId,
        manifest: &Value,
        force: bool,
    ) -> Result<crate::cluster::Applied, CallError> {
        let manager = self.job.names.manager.as_str();
        let how = Apply { manager, force, dry_run: true };
        self.job.cluster.apply(resource, id.namespace.as_deref(), &id.name, manifest, how).await
    }

    /// Files a refusal of a change: one that its annotation meets by making the object anew, or as
    /// any other.
    fn refuse_change(
        &self,
        plan: &mut ObjectPlan,
        live: &Value,
        error: CallError,
    ) -> Result<(), Error> {
        let Some(Refusal::Immutable { field, message }) =
            error.refusal().filter(|_| plan.handling == Handling::Recreate)
        else {
            return self.refuse(plan, error);
        };
        plan.action = if is_protected(live) || is_protected(&plan.manifest) {
            let error =
                Error::manifest(format!("`{field}` cannot be changed once the object exists"))
                    .in_target(&self.job.target.name)
                    .on(&plan.id)
                    .because("the annotation `mcd.dev/protect` keeps it from being recreated")
                    .hint("keep the value, or remove the annotation, here and in the cluster");
            Action::Refused(error)
        } else {
            let message = message.trim_end_matches('.');
            Action::Recreate(match message {
                "" => format!("`{field}` cannot be changed"),
                message => format!("`{field}` cannot be changed: {message}"),
            })
        };
        Ok(())
    }

    /// Files a refusal: of the object, or of our means to ask.
    pub(super) fn refuse(&self, plan: &mut ObjectPlan, error: CallError) -> Result<(), Error> {
        let CallErrorKind::Refused(refusal) = &error.kind else {
            return Err(self.job.failed(error, Some(&plan.id)));
        };
        let here = plan.id.namespace.as_deref().is_some_and(|ns| self.namespaces.contains(ns));
        match refusal {
            Refusal::MissingNamespace { .. } if here => {
                plan.unverified = Some(Unverified {
                    reason: "its namespace does not exist yet".to_owned(),
                    blocks_apply: false,
                });
                plan.action = Action::Create;
            }
            Refusal::Forbidden { .. } => {
                let error = self.job.failed(error, Some(&plan.id));
                plan.unverified =
                    Some(Unverified { reason: error.message().to_owned(), blocks_apply: true });
                plan.action = match plan.basis.uid {
                    Some(_) => Action::Change,
                    None => Action::Create,
                };
            }
            _ => plan.action = Action::Refused(self.job.failed(error, Some(&plan.id))),
        }
        Ok(())
    }

    /// What is to be left to others cannot be where it is part of a value that the server keeps as
    /// one: who sends the rest sends it too. `answer` is that of a dry run.
    pub(super) fn kept_whole(&self, plan: &ObjectPlan, answer: &Value) -> Option<Error> {
        let own = our_entry(answer, &self.job.names.manager)?;
        let (path, whole) = plan.leaves.iter().find_map(|path| {
            let whole = own.fields.whole_around(path)?;
            // An empty map looks like one.
            let filled = whole.get(answer).is_some_and(|value| match value {
                Value::Object(map) => !map.is_empty(),
                Value::Array(items) => !items.is_empty(),
                _ => true,
            });
            filled.then_some((path, whole))
        })?;
        Some(self.not_alone(plan, path, &whole))
    }

    /// The same by what live shows: it sees also where the path is all that is in such a value. Of
    /// that a dry run shows nothing, since it becomes empty.
    pub(super) fn kept_whole_in(&self, plan: &ObjectPlan, live: &Value) -> Option<Error> {
        let all = entries(live);
        let owned = all.iter().map(|entry| &entry.fields);
        let (path, whole) = plan
            .leaves
            .iter()
            .find_map(|path| Some((path, kept_as_one(owned.clone(), live, path)?)))?;
        Some(self.not_alone(plan, path, &whole))
    }

    fn not_alone(&self, plan: &ObjectPlan, path: &FieldPath, whole: &FieldPath) -> Error {
        Error::config(format!("`{path}` cannot be ignored alone"))
            .in_target(&self.job.target.name)
            .on(&plan.id)
            .because(format!("the server keeps `{whole}` as one value"))
            .hint(format!("ignore `{whole}`, or leave the path out of `ignore`"))
    }
}
