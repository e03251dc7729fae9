/** 1 in the build with relaxed SIMD (fused multiply-add), else 0; set by scripts/build.js. */
declare const RELAXED: i32;
