//! Jobs: what is in them ends with them.

use super::{PATIENCE, job_plan, start_child};
use crate::plan::JobPlan;
use crate::sys::for_tests::skipped_on_wine;
use crate::sys::job::Job;

#[test]
fn a_process_is_in_its_jobs_from_the_start() {
    let (outer, inner) = (Job::new(&job_plan()).unwrap(), Job::unlimited().unwrap());
    let other = Job::unlimited().unwrap();
    let child = start_child(&["sleep"], &[&outer, &inner]);
    assert!(outer.contains(child.handle()).unwrap());
    assert!(inner.contains(child.handle()).unwrap());
    assert!(!other.contains(child.handle()).unwrap());
    // The console that Windows gives to it may be in them, too.
    for job in [&outer, &inner] {
        assert!(job.process_ids().unwrap().contains(&child.id()));
        assert!(job.accounting().unwrap().active >= 1);
    }
    assert_eq!(other.process_ids().unwrap(), [] as [u32; 0]);
    outer.terminate(9).unwrap();
    assert_eq!(child.wait(Some(PATIENCE)).unwrap(), Some(9));
    assert!(outer.wait_until_empty(PATIENCE).unwrap());
    assert!(outer.accounting().unwrap().total >= 1);
    assert_eq!(outer.process_ids().unwrap(), [] as [u32; 0]);
}

#[test]
fn the_inner_job_ends_without_the_outer_one() {
    let outer = Job::new(&job_plan()).unwrap();
    let (one, two) = (Job::unlimited().unwrap(), Job::unlimited().unwrap());
    let first = start_child(&["sleep"], &[&outer, &one]);
    let second = start_child(&["sleep"], &[&outer, &two]);
    one.terminate(7).unwrap();
    assert_eq!(first.wait(Some(PATIENCE)).unwrap(), Some(7));
    assert_eq!(second.wait(Some(std::time::Duration::ZERO)).unwrap(), None);
    let ids = outer.process_ids().unwrap();
    assert!(
        ids.contains(&second.id()) && !ids.contains(&first.id()),
        "{ids:?}"
    );
    outer.terminate(8).unwrap();
    assert_eq!(second.wait(Some(PATIENCE)).unwrap(), Some(8));
}

#[test]
fn closing_a_job_ends_what_is_in_it() {
    let job = Job::new(&job_plan()).unwrap();
    let child = start_child(&["sleep"], &[&job]);
    assert_eq!(child.wait(Some(std::time::Duration::ZERO)).unwrap(), None);
    drop(job);
    // With code 0, which is why nobody is ended like this on purpose.
    assert_eq!(child.wait(Some(PATIENCE)).unwrap(), Some(0));
}

#[test]
fn closing_a_job_without_that_limit_ends_nothing() {
    let job = Job::unlimited().unwrap();
    let holder = Job::new(&job_plan()).unwrap();
    let child = start_child(&["sleep"], &[&holder, &job]);
    drop(job);
    assert_eq!(
        child
            .wait(Some(std::time::Duration::from_millis(200)))
            .unwrap(),
        None
    );
    holder.terminate(3).unwrap();
    assert_eq!(child.wait(Some(PATIENCE)).unwrap(), Some(3));
}

#[test]
fn every_limit_of_a_plan_is_taken() {
    let plan = JobPlan {
        active_processes: Some(4),
        job_memory: Some(512 << 20),
        cpu_seconds: Some(30),
        ..job_plan()
    };
    let job = Job::new(&plan).unwrap();
    let child = start_child(&["exit", "5"], &[&job]);
    assert_eq!(child.wait(Some(PATIENCE)).unwrap(), Some(5));
}

#[test]
fn the_limit_on_processes_is_kept() {
    if skipped_on_wine("keeps no limits of jobs but the end of all") {
        return;
    }
    let plan = JobPlan {
        active_processes: Some(1),
        ..job_plan()
    };
    let job = Job::new(&plan).unwrap();
    let child = start_child(&["tree"], &[&job]);
    assert_ne!(child.wait(Some(PATIENCE)).unwrap(), Some(0));
}
