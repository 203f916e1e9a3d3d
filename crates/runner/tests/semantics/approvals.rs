//! What an approval covers: the variables with the words, and never a way out that only a host may take.

use palisade_exec_policy::{ApprovalPurpose, AskForApproval, Refusal, ReviewDecision};
use palisade_policy::{SandboxPermissions, SandboxType};
use palisade_runner::judge::RuleBook;
use palisade_runner::session::{Error, Sandbox};

use crate::support::{Asked, Stage};

#[test]
fn an_approval_for_the_session_covers_the_variables_that_were_shown_with_it_and_no_others() {
    let stage = Stage::new();
    let policy = stage.policy().approval(AskForApproval::UnlessTrusted);
    let yes = ReviewDecision::ApprovedForSession;
    let (session, asked) = stage.session(policy, &[yes]);
    let program = stage.program("echo ran");
    for _ in 0..2 {
        let run = session.command(&program).output_blocking().unwrap();
        assert!(run.outcome.success(), "{:?}", run.outcome);
    }
    assert_eq!(asked.prompts().len(), 1);
    let with_code = session
        .command(&program)
        .env("LD_PRELOAD", "/srv/app/evil.so")
        .output_blocking();
    assert!(matches!(with_code, Err(Error::Refused(_))), "{with_code:?}");
    let prompts = asked.prompts();
    assert_eq!(prompts.len(), 2, "it is another question");
    let shown: Vec<_> = prompts[1].command.iter().collect();
    assert!(
        shown
            .iter()
            .any(|word| *word == "LD_PRELOAD=/srv/app/evil.so"),
        "the person sees it: {shown:?}"
    );
}

#[test]
fn a_model_cannot_bypass_and_a_host_that_does_is_refused_where_nobody_can_be_asked() {
    let stage = Stage::new();
    let policy = stage.policy().approval(AskForApproval::Never);
    let (session, asked) = stage.session(policy, &[ReviewDecision::Approved]);
    let run = session
        .script("echo $PALISADE_SANDBOX")
        .asking_for(SandboxPermissions::BypassSandbox, "I want out")
        .output_blocking()
        .unwrap();
    assert_eq!(
        run.sandbox,
        SandboxType::LinuxLandlock,
        "dropped, contained"
    );
    let refused = session
        .script("echo hello")
        .without_sandbox("the host says so")
        .output_blocking();
    assert!(
        matches!(&refused, Err(Error::Refused(Refusal::Forbidden { .. }))),
        "{refused:?}"
    );
    assert!(asked.prompts().is_empty());
}

#[test]
fn leaving_is_its_own_purpose_and_the_markers_say_so_also_in_a_child() {
    let stage = Stage::new();
    let (session, asked) = stage.session(stage.policy(), &[ReviewDecision::Approved]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ended = runtime.block_on(async {
        let child = session
            .script("echo sandbox=$PALISADE_SANDBOX network=$PALISADE_SANDBOX_NETWORK_DISABLED")
            .asking_for(SandboxPermissions::RequireEscalated, "please")
            .spawn()
            .await
            .unwrap();
        child.wait().await
    });
    assert_eq!(asked.prompts()[0].purpose, ApprovalPurpose::RunUnsandboxed);
    assert_eq!(ended.sandbox, SandboxType::None);
    let text = ended.output.stdout.text().into_owned();
    assert!(
        !text.contains("landlock") && text.contains("network=\n"),
        "a marker must not claim a sandbox that is not there: {text}"
    );
}

#[test]
fn a_rule_cannot_lead_out_of_a_sandbox_that_nobody_may_leave() {
    let stage = Stage::new();
    let rules = "version = 1\n[[rule]]\nid = \"out\"\nprefix = [\"id\"]\ndecision = \"allow\"\nunsandboxed = true\n\
                 why = \"trusted\"\n";
    let book = || RuleBook::from_text("rules", rules).unwrap();
    let session = |policy| {
        Sandbox::on(stage.host(), policy)
            .unwrap()
            .session(book(), Asked::new(&[]).prompter())
            .unwrap()
    };
    let open = session(stage.policy()).command("id").output_blocking();
    assert_eq!(open.unwrap().sandbox, SandboxType::None, "the rule does it");
    let closed = session(stage.policy().never_leave_the_sandbox())
        .command("id")
        .output_blocking();
    match closed {
        Ok(run) => assert_eq!(run.sandbox, SandboxType::LinuxLandlock),
        Err(error) => assert!(matches!(error, Error::Refused(_)), "{error}"),
    }
}
