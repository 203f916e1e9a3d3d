//! Includes are resolved among what the caller read; what cannot be is refused with its place.

use palisade_exec_policy::language::{
    Layer, LoadContext, LoadedPolicy, MAX_INCLUDE_DEPTH, PolicyErrors, PolicyFile, Source,
    includes, load, parse,
};

fn file(layer: Layer, name: &str, text: &str) -> PolicyFile {
    let text = format!("version = 1\n{text}");
    parse(&Source::new(layer, name, &text)).unwrap()
}

fn rule(id: &str) -> String {
    format!("[[rule]]\nid = {id:?}\nprefix = [\"a\"]\ndecision = \"forbid\"\n")
}

/// Loads files where each include stands for the file of that name.
fn load_by_name(files: Vec<PolicyFile>) -> Result<LoadedPolicy, PolicyErrors> {
    let mut context = LoadContext::new();
    for file in &files {
        for request in includes(file) {
            let name = request.pattern.clone();
            context = context.with_include(&request, [name]);
        }
    }
    load(files, &context)
}

#[track_caller]
fn refused(files: Vec<PolicyFile>, expected: &str) {
    assert_eq!(load_by_name(files).unwrap_err().to_string(), expected);
}

#[test]
fn included_files_come_first_and_once() {
    let policy = load_by_name(vec![
        file(
            Layer::User,
            "main",
            &format!("include = [\"a\", \"b\"]\n{}", rule("main")),
        ),
        file(
            Layer::User,
            "a",
            &format!(
                "include = [\"c\"]\n[defaults]\nopaque = \"prompt\"\n{}",
                rule("a")
            ),
        ),
        file(
            Layer::User,
            "b",
            &format!("include = [\"c\"]\n{}", rule("b")),
        ),
        file(
            Layer::User,
            "c",
            &format!("[defaults]\nopaque = \"forbid\"\n{}", rule("c")),
        ),
    ])
    .unwrap();
    let ids: Vec<_> = policy.rules().iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(ids, ["c", "a", "b", "main"]);
    assert_eq!(
        policy.settings().opaque.origin.as_ref().unwrap().source,
        "a"
    );
}

#[test]
fn a_circle_is_refused() {
    refused(
        vec![
            file(Layer::User, "main", "include = [\"a\"]"),
            file(Layer::User, "a", "preset = \"ci\"\ninclude = [\"main\"]"),
        ],
        "a:3:12: `include`: files include each other in a circle: main -> a -> main",
    );
    refused(
        vec![file(Layer::User, "main", "include = [\"main\"]")],
        "main:2:12: `include`: files include each other in a circle: main -> main",
    );
}

#[test]
fn what_leads_nowhere_is_refused() {
    refused(
        vec![file(Layer::User, "main", "include = [\"a\"]")],
        "main:2:12: `include`: `a` is included but was not handed in (found `a`)",
    );
    let errors = load(
        [file(Layer::User, "main", "include = [\"a\"]")],
        &LoadContext::new(),
    )
    .unwrap_err();
    assert_eq!(
        errors.to_string(),
        "main:2:12: `include`: nothing was found for this include (found `a`)"
    );
}

#[test]
fn another_layer_is_refused() {
    refused(
        vec![
            file(Layer::User, "main", "include = [\"a\"]"),
            file(Layer::System, "a", ""),
        ],
        "main:2:12: `include`: `a` belongs to another layer; a file includes files of its own layer only (found `a`)",
    );
}

#[test]
fn too_deep_is_refused() {
    let chain = |length: usize| {
        let link = |index: usize| match index + 1 == length {
            true => file(Layer::User, &format!("f{index}"), ""),
            false => file(
                Layer::User,
                &format!("f{index}"),
                &format!("include = [\"f{}\"]", index + 1),
            ),
        };
        (0..length).map(link).collect::<Vec<_>>()
    };
    assert!(load_by_name(chain(MAX_INCLUDE_DEPTH + 1)).is_ok());
    refused(
        chain(MAX_INCLUDE_DEPTH + 2),
        "f8:2:12: `include`: includes are nested more than 8 deep",
    );
}

#[test]
fn a_pattern_may_stand_for_no_file_and_says_so() {
    let main = file(Layer::User, "main", "include = [\"team/*.toml\"]");
    let [request] = <[_; 1]>::try_from(includes(&main)).unwrap();
    assert!(request.is_pattern());
    let policy = load(
        [main],
        &LoadContext::new().with_include(&request, Vec::<String>::new()),
    )
    .unwrap();
    assert_eq!(
        policy.notices()[0].to_string(),
        "main:2:12: include: `team/*.toml` stands for no file"
    );
}

#[test]
fn an_untrusted_project_includes_nothing() {
    let policy = load_by_name(vec![
        file(
            Layer::Project,
            "main",
            &format!("include = [\"a\"]\n{}", rule("main")),
        ),
        file(Layer::Project, "a", &rule("a")),
    ])
    .unwrap();
    let ids: Vec<_> = policy.rules().iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(ids, ["main"]);
    assert_eq!(
        policy.notices()[0].to_string(),
        "main:2:12: include: `a` is ignored, because the project is not trusted"
    );
}
