//! The header of a picture (T.81, B.2.2): its size, and how its components are sampled.

/// A component: grey, or one of three colours.
#[derive(Debug, Clone)]
pub(super) struct Component {
    /// Its index among the components of the frame.
    pub(super) index: usize,
    /// The number by which scans refer to it.
    pub(super) id: u8,
    /// The number of its blocks in an MCU, side by side and one below the other.
    pub(super) across: usize,
    pub(super) down: usize,
    /// The table of its quantisers.
    pub(super) table: usize,
    /// Its size in samples.
    pub(super) width: usize,
    pub(super) height: usize,
    /// The number of blocks in a row of MCUs, in one of the rows of blocks.
    pub(super) blocks_in_row: usize,
}

impl Component {
    /// Returns the size of a row of MCUs in samples: width and height.
    pub(super) fn strip(&self) -> (usize, usize) {
        (8 * self.blocks_in_row, 8 * self.down)
    }
}

/// How the components make colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    Grey,
    /// Brightness and two differences (JFIF).
    YCbCr,
    Rgb,
}

/// The frame of a picture.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) is_progressive: bool,
    pub(super) components: Vec<Component>,
    pub(super) colours: Colours,
    /// The largest number of blocks of a component in an MCU, side by side and one below the other.
    pub(super) across: usize,
    pub(super) down: usize,
    pub(super) mcus_in_row: usize,
    pub(super) mcu_rows: usize,
}

impl Frame {
    /// Creates a frame with components that have these identifiers, factors and tables.
    pub(super) fn new(
        (width, height): (usize, usize),
        is_progressive: bool,
        sampled: &[(u8, usize, usize, usize)],
    ) -> Result<Self, &'static str> {
        // The factors of a single component are ignored.
        let is_single = sampled.len() == 1;
        let factors = |across: usize, down: usize| if is_single { (1, 1) } else { (across, down) };
        let largest = |factor: fn(&(usize, usize)) -> usize| {
            sampled.iter().map(|(_, across, down, _)| factor(&factors(*across, *down))).max().unwrap_or(1)
        };
        let (across, down) = (largest(|factors| factors.0), largest(|factors| factors.1));
        let (mcus_in_row, mcu_rows) = (width.div_ceil(8 * across), height.div_ceil(8 * down));
        let mut components = Vec::new();
        for (index, (id, own_across, own_down, table)) in sampled.iter().enumerate() {
            let (own_across, own_down) = factors(*own_across, *own_down);
            if across % own_across != 0 || down % own_down != 0 {
                return Err("colours that are sampled at a ratio that is no whole number are not supported");
            }
            components.push(Component {
                index,
                id: *id,
                across: own_across,
                down: own_down,
                table: *table,
                width: (width * own_across).div_ceil(across),
                height: (height * own_down).div_ceil(down),
                blocks_in_row: mcus_in_row * own_across,
            });
        }
        if !is_single
            && components.iter().map(|component| component.across * component.down).sum::<usize>() > 10
        {
            return Err("an MCU has more than 10 blocks; the file is damaged");
        }
        let colours = if is_single { Colours::Grey } else { Colours::YCbCr };
        Ok(Self { width, height, is_progressive, components, colours, across, down, mcus_in_row, mcu_rows })
    }

    /// Returns the header of the PPM or PGM file.
    pub(super) fn header(&self) -> String {
        let kind = if self.colours == Colours::Grey { "P5" } else { "P6" };
        format!("{kind}\n{} {}\n255\n", self.width, self.height)
    }
}
