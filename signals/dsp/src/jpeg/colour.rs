//! From brightness and two differences to red, green and blue (JFIF 1.02).

/// Bits behind the point of the factors.
const BITS: i32 = 16;

const fn fixed(value: f64) -> i32 {
    (value * (1 << BITS) as f64 + 0.5) as i32
}

/// Writes the pixels of a row.
pub(super) fn to_rgb([luma, blue, red]: [&[u8]; 3], pixels: &mut [u8]) {
    let samples = luma.iter().zip(blue).zip(red);
    for (pixel, ((luma, blue), red)) in pixels.as_chunks_mut::<3>().0.iter_mut().zip(samples) {
        let luma = i32::from(*luma);
        let (blue, red) = (i32::from(*blue) - 128, i32::from(*red) - 128);
        let half = 1 << (BITS - 1);
        let to_red = (fixed(1.402_00) * red + half) >> BITS;
        let to_green = (half - fixed(0.344_14) * blue - fixed(0.714_14) * red) >> BITS;
        let to_blue = (fixed(1.772_00) * blue + half) >> BITS;
        *pixel = [luma + to_red, luma + to_green, luma + to_blue].map(|value| value.clamp(0, 255) as u8);
    }
}

/// Writes the pixels of a row whose components are red, green and blue.
pub(super) fn interleave([red, green, blue]: [&[u8]; 3], pixels: &mut [u8]) {
    let samples = red.iter().zip(green).zip(blue);
    for (pixel, ((red, green), blue)) in pixels.as_chunks_mut::<3>().0.iter_mut().zip(samples) {
        *pixel = [*red, *green, *blue];
    }
}
