//! Code that is compiled for optional features of the processor.

/// A computation that is faster with instructions that not all processors have.
pub(crate) trait Task {
    type Output;

    /// Computes the result. It must be inlined, so that it is compiled with these instructions.
    fn run(self) -> Self::Output;
}

/// Runs a task with bit manipulation instructions (BMI1, BMI2), if the processor has them.
#[inline]
pub(crate) fn with_features<T: Task>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("bmi1") && std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has the features that the function is compiled with.
            return unsafe { with_bmi(task) };
        }
    }
    task.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn with_bmi<T: Task>(task: T) -> T::Output {
    task.run()
}
