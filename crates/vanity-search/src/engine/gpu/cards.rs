//! The choice of devices, and what is printed about them.

use crate::engine::traits::Devices;
use crate::gpu::{self, Card, Device};

/// Returns the cards that are asked for. If that is all, leaves out the CPUs that OpenCL offers as devices,
/// unless the machine has no GPU.
pub(super) fn chosen(mut cards: Vec<Card>, asked: Devices) -> Result<Vec<Card>, String> {
    if asked == Devices::ALL {
        let has_gpu = cards.iter().any(is_gpu);
        cards.retain(|card| is_gpu(card) || !has_gpu);
        return Ok(cards);
    }
    let card = |number| {
        let name = |(number, card): (usize, &Card)| format!("{number}: {}", card[0].name());
        let names = || cards.iter().enumerate().map(name).collect::<Vec<_>>().join(", ");
        let card = cards.get(number).cloned();
        card.ok_or_else(|| format!("device {number} does not exist; found {}", names()))
    };
    asked.numbers().map(card).collect()
}

/// Returns the cards that join a search of the CPU: those that are asked for, or the GPUs.
pub(in crate::engine) fn joining(asked: Devices) -> Result<Vec<Card>, String> {
    let mut cards = chosen(gpu::cards().unwrap_or_default(), asked)?;
    cards.retain(|card| asked != Devices::ALL || is_gpu(card));
    Ok(cards)
}

fn is_gpu(card: &Card) -> bool {
    !card[0].is_cpu()
}

/// Returns whether the machine has a GPU.
pub(in crate::engine) fn has_gpu() -> bool {
    gpu::cards().is_ok_and(|cards| cards.iter().any(is_gpu))
}

/// Returns the names of all devices, in the order of their numbers, each with its place and its
/// memory.
pub(in crate::engine) fn device_names() -> Result<Vec<String>, String> {
    let cards = gpu::cards().map_err(|error| error.to_string())?;
    Ok(cards.iter().map(|card| described(&*card[0])).collect())
}

/// Returns the name of a device, its place if that is known, and its memory.
fn described(device: &dyn Device) -> String {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let place = device.address().map(|address| format!(", {address}")).unwrap_or_default();
    let all = gib(device.memory());
    let memory = match device.free_memory() {
        Ok(Some(free)) => format!("{:.1} of {all:.1} GiB free", gib(free)),
        Ok(None) => format!("{all:.1} GiB"),
        Err(error) => error.to_string(),
    };
    format!("{}{place}, {memory}", device.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::tests::devices;

    #[test]
    fn an_unknown_device_is_refused_with_a_list_of_devices() {
        let all: Vec<Card> = devices().into_iter().map(|device| vec![device]).collect();
        let Some(first) = all.first() else { return };
        let refused = chosen(all.clone(), Devices::of([63]).unwrap()).err().unwrap();
        let listed = format!("device 63 does not exist; found 0: {}", first[0].name());
        assert!(refused.starts_with(&listed), "{refused}");
        let one = chosen(all.clone(), Devices::of([0]).unwrap()).unwrap();
        assert_eq!((one.len(), one[0][0].name()), (1, first[0].name()));
        assert!(!chosen(all, Devices::ALL).unwrap().is_empty());
    }
}
