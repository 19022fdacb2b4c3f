//! Temporary.
use std::path::Path;
use std::sync::Arc;
fn main() {
    let root = std::env::args().nth(1).unwrap();
    let mut doms: Vec<_> = std::fs::read_dir(&root)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "pddl"))
        .collect();
    doms.sort();
    let (mut ok, mut bad, mut pok, mut pbad) = (0, 0, 0, 0);
    for d in doms {
        let text = std::fs::read_to_string(&d).unwrap();
        let src = derrl_logic::Source::new(d.file_name().unwrap().to_str().unwrap(), text);
        match derrl_pddl::Domain::parse(&src) {
            Err(e) => {
                bad += 1;
                println!("{e}\n");
            }
            Ok(dom) => {
                ok += 1;
                let dom = Arc::new(dom);
                let stem = d.file_stem().unwrap().to_str().unwrap();
                for suffix in ["", "_test"] {
                    let dir = Path::new(&root).join(format!("{stem}{suffix}"));
                    let Ok(rd) = std::fs::read_dir(&dir) else { continue };
                    let mut ps: Vec<_> = rd
                        .map(|e| e.unwrap().path())
                        .filter(|p| p.extension().is_some_and(|e| e == "pddl"))
                        .collect();
                    ps.sort();
                    let mut shown = 0;
                    for p in ps {
                        let src = derrl_logic::Source::new(
                            format!("{stem}{suffix}/{}", p.file_name().unwrap().to_str().unwrap()),
                            std::fs::read_to_string(&p).unwrap(),
                        );
                        match derrl_pddl::Task::parse(&src, &dom) {
                            Ok(_) => pok += 1,
                            Err(e) => {
                                pbad += 1;
                                if shown < 1 {
                                    println!("{e}\n");
                                    shown += 1;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    println!("{ok} domains, {bad} not; {pok} problems, {pbad} not");
}
