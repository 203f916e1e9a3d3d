//! The outcome for programs: JSON lines, version 1. `docs/events.schema.json` describes them.
