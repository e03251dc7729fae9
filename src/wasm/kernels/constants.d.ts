/** 1 in the build with relaxed SIMD (fused multiply-add), else 0; set by scripts/build.js. */
declare const RELAXED: i32;

// The types of AssemblyScript as the host sees them.
declare type usize = number;
declare type i32 = number;
declare type u32 = number;
declare type f32 = number;
declare type f64 = number;
declare type bool = boolean | number;
