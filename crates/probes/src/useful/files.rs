//! Files.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{act, expect};
use crate::report::Report;
use crate::site::Site;
use crate::sys;

pub(crate) fn files(site: &Site) -> Report {
    act(|| {
        let at = |name: &str| site.workspace.join(name);
        fs::create_dir_all(at("build/deep/er"))?;
        fs::write(at("build/one"), "one")?;
        fs::rename(at("build/one"), at("build/deep/two"))?;
        fs::hard_link(at("build/deep/two"), at("build/three"))?;
        symlink("three", at("build/link"))?;
        sys::files::make_fifo(&at("build/pipe"))?;
        expect(
            fs::read_to_string(at("build/link"))? == "one",
            "other content",
        )?;
        sys::files::truncate(&at("build/three"))?;
        // As editors save: a new file that takes the place of the old one.
        fs::write(at("file.new"), "new")?;
        fs::rename(at("file.new"), at("file"))?;
        fs::remove_file(at("build/pipe"))?;
        fs::remove_dir_all(at("build"))?;
        fs::write(site.plain.join("new"), "new")?;
        Ok("files, directories and links")
    })
}

pub(crate) fn metadata(site: &Site) -> Report {
    act(|| {
        let path = site.workspace.join("script");
        fs::write(&path, "#!/bin/sh\nexit 0\n")?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        let day = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400);
        File::open(&path)?.set_modified(day)?;
        let about = fs::metadata(&path)?;
        expect(about.modified()? == day, "another time")?;
        expect(about.permissions().mode() & 0o777 == 0o755, "another mode")?;
        let ended = std::process::Command::new(&path).status()?;
        expect(ended.success(), "the script failed")?;
        Ok("mode and times; a script runs")
    })
}

pub(crate) fn temporary(site: &Site) -> Report {
    act(|| {
        let directory = std::env::temp_dir();
        let path = directory.join(format!("use-{}", site.token));
        File::create_new(&path)?.write_all(b"temporary")?;
        expect(fs::read(&path)? == b"temporary", "other content")?;
        fs::remove_file(&path)?;
        Ok(format!("in {}", directory.display()))
    })
}

pub(crate) fn locks(site: &Site) -> Report {
    act(|| {
        let path = site.workspace.join("file");
        let first = OpenOptions::new().read(true).write(true).open(&path)?;
        first.lock()?;
        let second = File::open(&path)?.try_lock();
        expect(second.is_err(), "two had the lock")?;
        first.unlock()?;
        Ok("locked and unlocked")
    })
}

pub(crate) fn map(site: &Site) -> Report {
    act(|| {
        let path = site.workspace.join("file");
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        sys::files::write_mapped(&file, b'A')?;
        expect(fs::read(&path)?.starts_with(b"A"), "nothing was written")?;
        Ok("written through memory")
    })
}

pub(crate) fn watch(site: &Site) -> Report {
    act(|| {
        let mut watch = sys::files::watch(Some(&site.workspace))?;
        fs::write(site.workspace.join("noticed"), "")?;
        let mut event = [0_u8; 512];
        expect(watch.read(&mut event)? > 0, "nothing was noticed")?;
        Ok("noticed")
    })
}

pub(crate) fn large(site: &Site) -> Report {
    act(|| {
        let block = vec![7_u8; 1 << 20];
        let path = site.workspace.join("large");
        let mut file = File::create(&path)?;
        for _ in 0..16 {
            file.write_all(&block)?;
        }
        expect(fs::metadata(&path)?.len() == 16 << 20, "another size")?;
        fs::remove_file(path)?;
        Ok("16 MiB")
    })
}

pub(crate) fn system(_: &Site) -> Report {
    act(|| {
        for path in ["/etc/passwd", "/etc/hosts"] {
            // Some images have no hosts file.
            if Path::new(path).exists() {
                fs::read(path)?;
            }
        }
        let programs = fs::read_dir("/usr/bin")?.count();
        expect(programs > 0, "no programs")?;
        Ok(format!("{programs} programs"))
    })
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), found)?;
        } else {
            found.push(entry.path());
        }
    }
    Ok(())
}

pub(crate) fn workspace(site: &Site) -> Report {
    act(|| {
        let mut found = Vec::new();
        walk(&site.workspace, &mut found)?;
        fs::read(site.workspace.join("file"))?;
        expect(found.len() > 5, "files are missing")?;
        Ok(format!("{} files", found.len()))
    })
}

pub(crate) fn git(site: &Site) -> Report {
    act(|| {
        let head = fs::read_to_string(site.workspace.join(".git/HEAD"))?;
        expect(head == "ref: refs/heads/main\n", "another head")?;
        fs::read(site.workspace.join(".git/config"))?;
        Ok("read")
    })
}

pub(crate) fn devices(_: &Site) -> Report {
    act(|| {
        OpenOptions::new()
            .write(true)
            .open("/dev/null")?
            .write_all(b"nothing")?;
        let mut bytes = [1_u8; 8];
        File::open("/dev/zero")?.read_exact(&mut bytes)?;
        expect(bytes == [0; 8], "zero is not zero")?;
        for path in ["/dev/urandom", "/dev/random"] {
            File::open(path)?.read_exact(&mut bytes)?;
        }
        expect(bytes != [0; 8], "random is zero")?;
        let full = OpenOptions::new()
            .write(true)
            .open("/dev/full")?
            .write_all(b"x");
        let full = full.err().and_then(|error| error.raw_os_error());
        expect(full == Some(libc::ENOSPC), "full is not full")?;
        Ok("null, zero, full, random, urandom")
    })
}

pub(crate) fn shared_memory(site: &Site) -> Report {
    act(|| {
        let path = Path::new("/dev/shm").join(format!("use-{}", site.token));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        file.write_all_at(b"shared", 0)?;
        sys::files::write_mapped(&file, b'S')?;
        fs::remove_file(path)?;
        Ok("made, mapped and removed")
    })
}
