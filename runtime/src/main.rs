//! The binary `agent-sandbox-server`: everything it can do is a command of [`runtime::cli`].

fn main() -> std::process::ExitCode {
    runtime::cli::main()
}

/// All that tokio's scheduler and SQLite's ranking call of the C library's mathematics. Were they not here, every start would load
/// that library for the two: half a megabyte, and a tenth of a millisecond.
#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
mod math {
    // SAFETY: of both: it is C's function of this name, taking and giving what that one does; that it leaves `errno` alone, nobody
    // reads. Tests go without, for their `f64` is to be the system's.
    #[cfg_attr(
        not(test),
        expect(unsafe_code, reason = "the symbol of a C function is defined"),
        unsafe(no_mangle)
    )]
    extern "C" fn pow(base: f64, exponent: f64) -> f64 {
        libm::pow(base, exponent)
    }

    #[cfg_attr(
        not(test),
        expect(unsafe_code, reason = "the symbol of a C function is defined"),
        unsafe(no_mangle)
    )]
    extern "C" fn log(of: f64) -> f64 {
        libm::log(of)
    }

    #[cfg(test)]
    mod tests {
        use super::{log, pow};
        use std::f64::consts::{E, LN_2, SQRT_2};

        /// Both orders of magnitude and both signs, and what is no ordinary number.
        fn numbers() -> impl Iterator<Item = f64> + Clone {
            let odd = [0.0, f64::MIN_POSITIVE, 5e-324, 1.0 - f64::EPSILON, 1.0, 2.0, 3.0, 1e15, f64::MAX];
            let spread = (-300..300).map(|power| 1.37 * 10_f64.powi(power));
            let near = (1..200).map(|tenths| f64::from(tenths) / 10.0);
            let unsigned = odd.into_iter().chain(spread).chain(near).chain([f64::INFINITY, f64::NAN]);
            unsigned.flat_map(|number| [number, -number])
        }

        /// Whether two results are the same, or neighbours among the numbers that there are.
        fn alike(ours: f64, theirs: f64) -> bool {
            let near = ours.to_bits().abs_diff(theirs.to_bits()) <= 1;
            near || (ours.is_nan() && theirs.is_nan())
        }

        #[test]
        fn known_values() {
            assert_eq!([pow(2.0, 10.0), pow(2.0, -1.0), pow(-2.0, 3.0)], [1024.0, 0.5, -8.0]);
            assert_eq!([pow(0.0, 0.0), pow(f64::NAN, 0.0), pow(1.0, f64::NAN)], [1.0; 3]);
            assert!(alike(pow(2.0, 0.5), SQRT_2) && pow(-2.0, 0.5).is_nan());
            assert_eq!([log(1.0), log(E), log(0.0)], [0.0, 1.0, f64::NEG_INFINITY]);
            assert!(alike(log(2.0), LN_2) && log(-1.0).is_nan());
        }

        #[test]
        fn they_say_what_the_system_says() {
            for number in numbers() {
                assert!(
                    alike(log(number), number.ln()),
                    "log {number:e}: {:e}, {:e}",
                    log(number),
                    number.ln()
                );
                for exponent in numbers() {
                    let (ours, theirs) = (pow(number, exponent), number.powf(exponent));
                    assert!(alike(ours, theirs), "{number:e} to {exponent:e}: {ours:e}, {theirs:e}");
                }
            }
        }
    }
}
