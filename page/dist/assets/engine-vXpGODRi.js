import{c as e,i as t,n,r}from"./errors-CDQlRE3j.js";import{i}from"./special-De5SNQxr.js";import{c as a,d as o,f as s,g as c,h as l,l as u,m as d,o as f,p,s as m,u as h}from"./session-leKv_LFC.js";import{allocate as g,megabytes as _,openDevice as v,webgpuAvailability as y}from"./device-Ce8cAU5N.js";var b=2304,x=16,S=e=>`
struct Params {
  first: u32, last: u32, flags: u32, partials: u32,
  sigma: f32, tau: f32, shape: f32, rate: f32,
  size: f32, logNorm: f32, constant: f32, chunk: u32,
  relaxation: f32, scale: f32, unused1: f32, unused2: f32,
  mass: array<vec4f, ${e}>,
}
@group(0) @binding(0) var<uniform> params: Params;
const MEAN_ACTIVITY = 1u;
const MASS_GIVEN = 2u;
const HAS_LEFTOVER = 4u;
`;function C(e,t){let{hyper:n,mass:r}=t,i=t.activity===`mean`|(r?2:0)|(n&&n.size>0?4:0),a=[t.first,t.last,i,t.partials??0];for(let[t,n]of a.entries())e.setUint32(4*t,n,!0);let o=[n?.sigma,n?.tau,n?.shape,n?.rate,n?.size,t.logNorm,t.constant];for(let[t,n]of o.entries())e.setFloat32(16+4*t,n??0,!0);if(e.setUint32(44,t.chunk??1,!0),e.setFloat32(48,t.relaxation??0,!0),e.setFloat32(52,t.scale??1,!0),r)for(let t=0;t<r.length;t++)e.setFloat32(4*(x+t),r[t],!0)}var w={mapRead:1,copySource:4,copyTarget:8,uniform:64,storage:128,query:512},T=1,E=4,D=64,ee=4,O=512,te=2**24,ne=16;function re(e,t){let{device:r}=e,i=new Map,a=new WeakMap,o=0,s=new ArrayBuffer(D*b),c=r.createBuffer({size:s.byteLength,usage:w.uniform|w.copyTarget}),l=0,u,d,f=0,p=0,m=[],h=t&&e.timestamps?ie(r,t):void 0;function g(e){return u??=r.createCommandEncoder(),h&&(h.full()&&(_(),u=r.createCommandEncoder()),d?.end(),d=u.beginComputePass({timestampWrites:h.next(e)})),d??=u.beginComputePass(),d}function _(){u&&(d?.end(),h?.resolve(u),l>0&&r.queue.writeBuffer(c,0,s,0,l*b),r.queue.submit([u.finish()]),h?.collect(),u=void 0,d=void 0,l=0,f=0,p=0)}function v(e,t){let n=``;for(let{buffer:e,offset:r,size:i}of t){let t=a.get(e);t===void 0&&a.set(e,t=o++),n+=`${t}:${r??0}:${i??``},`}let i=e.groups.get(n);if(!i){let a=[],o=0;for(let[n,r]of e.access.entries())r===`params`?a.push({binding:n,resource:{buffer:c,size:b}}):r&&a.push({binding:n,resource:t[o++]});i=r.createBindGroup({layout:e.layout,entries:a}),e.groups.set(n,i)}return i}async function y(t,i,a){let o=a.flatMap((e,t)=>e?e===`params`?[{binding:t,visibility:E,buffer:{type:`uniform`,hasDynamicOffset:!0}}]:[{binding:t,visibility:E,buffer:{type:e===`read`?`read-only-storage`:`storage`}}]:[]),s=r.createBindGroupLayout({entries:o});try{return{label:t,pipeline:await r.createComputePipelineAsync({label:t,layout:r.createPipelineLayout({bindGroupLayouts:[s]}),compute:{module:r.createShaderModule({label:t,code:i})}}),layout:s,access:a,groups:new Map}}catch(r){throw new n(`the GPU (${e.description}) refused the kernel "${t}": ${r.message}; use the cpu engine`)}}return{kernel(e,t,n){let r=i.get(t);return r||i.set(t,r=y(e,t,n)),r},reserve(e){l+e>D&&_()},params(e){let t=l++*b;return new Uint8Array(s,t,b).fill(0),C(new DataView(s,t,b),e),t},run(e,t,n,i){if(i===0)return;let a=g(e.label);a.setPipeline(e.pipeline),a.setBindGroup(0,v(e,n),e.access[0]===`params`?[t]:[]);let o=r.limits.maxComputeWorkgroupsPerDimension,s=Math.ceil(i/o);a.dispatchWorkgroups(Math.ceil(i/s),s)},async pace(t){if(f+=t,++p<ne&&f<te)return;_();let n=r.queue.onSubmittedWorkDone();n.catch(()=>{}),m.push(n),m.length>ee&&await m.shift().catch(t=>Promise.reject(e.explain(t))),e.check()},flush:_,clear(e){u??=r.createCommandEncoder(),d?.end(),d=void 0,u.clearBuffer(e)},async read(t,n,i){e.check();let a=r.createBuffer({size:i,usage:w.mapRead|w.copyTarget});u??=r.createCommandEncoder(),d?.end(),d=void 0,u.copyBufferToBuffer(t,n,a,0,i),_();try{await a.mapAsync(T);let t=a.getMappedRange().slice(0);return e.check(),t}catch(t){throw e.explain(t)}finally{a.destroy()}},forget(){_();for(let e of i.values())e.then(({groups:e})=>e.clear(),()=>{})}}}function ie(e,t){let n=e.createQuerySet({type:`timestamp`,count:2*O}),r=e.createBuffer({size:16*O,usage:w.query|w.copySource}),i=[],a;return{full:()=>i.length===O,next(e){let t=2*i.length;return i.push(e),{querySet:n,beginningOfPassWriteIndex:t,endOfPassWriteIndex:t+1}},resolve(t){if(i.length===0)return;let o=16*i.length;a=e.createBuffer({size:o,usage:w.mapRead|w.copyTarget}),t.resolveQuerySet(n,0,2*i.length,r,0),t.copyBufferToBuffer(r,0,a,0,o)},collect(){let e=a,n=i;e&&(a=void 0,i=[],e.mapAsync(T).then(()=>{let r=new BigUint64Array(e.getMappedRange());for(let[e,i]of n.entries())t(i,Number(r[2*e+1]-r[2*e])/1e6);e.destroy()},()=>{}))}}}var ae=64;function oe(e,t){let{block:n,short:r,chunkEdges:i,tiles:a,otherRows:o}=t,{offsets:s,neighbors:c}=e,l=s.length-1,u=new Uint32Array(l+1),d=Math.max(1,Math.ceil(o/a)),f=[],p=[],m=[],h=[],g=0,_=(e,t,r,a)=>{let o=t;for(;o<r;){let t=Math.min(r,(Math.floor(o/i)+1)*i),s=Math.ceil((t-o)/n),c=Math.min(n,Math.ceil((t-o)/s/32)*32),l=Math.min(t,o+c);f.push(e),p.push(o),m.push(l-o),h.push(a),o=l}};for(let e=0;e<l;e++){let t=s[e],n=s[e+1];if(u[e]=f.length,t===n)continue;let r=1;for(;r*2<=a&&n-t>=ae*r*2;)r*=2;let i=t;for(let t=0;t<r&&i<n;t++){let o=Math.floor(t*a/r),s=Math.floor((t+1)*a/r)*d,l=t===r-1?n:se(c,i,n,s);_(e,i,l,o),i=l}g=Math.max(g,f.length-u[e])}let v=f.length;u[l]=v;let y=Math.max(1,Math.ceil(c.length/i)),b=new Float64Array(v);for(let e=0;e<v;e++){let t=m[e]<=r,o=2*Math.floor(p[e]/i)+ +!!t;b[e]=(o*a+(t?0:h[e]))*(n+1)+(n-m[e])}let x=ce(b,2*y*a*(n+1)),S=[];for(let e=0;e<v;){let t=Math.floor(b[x[e]]/(a*(n+1))),r=e;for(;r<v&&Math.floor(b[x[r]]/(a*(n+1)))===t;)r++;let o=new Uint32Array(4*(r-e)),s=t>>1;for(let t=e;t<r;t++){let n=x[t];o.set([f[n],n,p[n]-s*i,m[n]],4*(t-e))}S.push({chunk:s,short:(t&1)==1,records:o}),e=r}return{groups:S,firstSlot:u,slots:v,mostSlots:g}}function se(e,t,n,r){let i=t,a=n;for(;i<a;){let t=i+a>>>1;e[t]<r?i=t+1:a=t}return i}function ce(e,t){let n=new Uint32Array(t+1);for(let t of e)n[t+1]++;for(let e=0;e<t;e++)n[e+1]+=n[e];let r=new Uint32Array(e.length);for(let t=0;t<e.length;t++)r[n[e[t]]++]=t;return r}var le=8,ue=8,k=64;function de(e,t,n){let r=Math.ceil(e/4),i={features:e,quads:r,block:n.block??2048,tile:n.tile??16*2**20},a=Math.max(1,Math.min(t,32)),o=Math.min(n.lanes??A(r),a,A(r)),s=Math.ceil(r/o);if((n.subgroups??!0)&&t>=4&&s<=le){let e=Math.min(n.steps??8,o);for(;e>1&&e*s>ue;)e/=2;let t=Math.max(o,Math.min(n.team??a,a)),r=Math.max(n.workgroup??32,t),c=t>o?3*e:0;return{...i,subgroups:!0,lanes:o,perLane:s,steps:e,team:t,workgroup:r,short:c}}return o=Math.min(A(r),k),{...i,subgroups:!1,lanes:o,perLane:Math.ceil(r/o),steps:1,team:k,workgroup:k,short:0}}function A(e){let t=1;for(;t<e;)t*=2;return t}var j=2**24,fe=8;function M(e,t,r){if(r>e.maxBinding)throw new n(`${t} takes ${_(r)}, and this GPU (${e.description}) binds at most ${_(e.maxBinding)} at once (maxStorageBufferBindingSize); use the cpu engine or fewer features`);let i=Math.max(16,4*Math.ceil(r/4));return e.device.createBuffer({label:t,size:i,usage:w.storage|w.copySource|w.copyTarget})}async function pe(e,n,r){if(!Number.isInteger(n)||n<1||n>512)throw new t(`${n} features: the GPU engine takes 1 to 512`);let i=r.weightShape.length,a=Math.ceil(n/4),o=i*a*16,s=await g(e,`a table of ${i} rows × ${n} features`,3*o+8*i,()=>({rows:i,features:n,quads:a,weights:M(e,`the weights of ${i} rows`,8*i),shapes:M(e,`a table of ${i} rows × ${n} features`,o),rates:M(e,`a table of ${i} rows × ${n} features`,o),activity:M(e,`a table of ${i} rows × ${n} features`,o),totals:M(e,`totals`,3*a*16)}));return await me(e,s,r),s}async function me(e,t,n){let r=new Float32Array(2*t.rows);for(let e=0;e<t.rows;e++)r[2*e]=n.weightShape[e],r[2*e+1]=n.weightRate[e];await N(e,t.weights,r),await be(e,t,t.shapes,n.featureShape,0),await be(e,t,t.rates,n.featureRate,1)}async function he(e,{rows:t,features:n,quads:r},i){let a=`counts of ${t} rows × ${n} features`,o=32*t*r;return{rows:t,features:n,scale:i,quads:r,values:await g(e,a,o,()=>M(e,a,o))}}async function ge(e,{features:t,quads:n,values:r},{first:i,last:a}){let o=4*n,s=new BigInt64Array((a-i)*t);if(s.length===0)return s;let c=await e.read(r,8*i*o,8*(a-i)*o),l=new BigInt64Array(c);for(let e=0;e<a-i;e++)s.set(l.subarray(e*o,e*o+t),e*t);return s}async function _e(e,{features:t,quads:n,values:r},i,a){let o=4*n,s=Math.max(1,Math.floor(j/(8*o))),c=i.length/t;for(let n=0;n<c;n+=s){let l=Math.min(c,n+s),u=new BigInt64Array((l-n)*o);for(let e=n;e<l;e++)u.set(i.subarray(e*t,(e+1)*t),(e-n)*o);e.device.queue.writeBuffer(r,8*(a+n)*o,u),await P(e,n/s)}}async function ve(e,t){let{rows:n,features:r}=t,i=new Float32Array(await e.read(t.weights,0,8*n)),a=new Float32Array(n),o=new Float32Array(n);for(let e=0;e<n;e++)a[e]=i[2*e],o[e]=i[2*e+1];return{weightShape:a,weightRate:o,featureShape:await xe(e,t,t.shapes,new Float32Array(n*r)),featureRate:await xe(e,t,t.rates,new Float32Array(n*r))}}function ye({weights:e,shapes:t,rates:n,activity:r,totals:i}){for(let a of[e,t,n,r,i])a.destroy()}async function N(e,t,n){let r=j/4;for(let i=0;i<n.length;i+=r){let a=n.subarray(i,Math.min(i+r,n.length)),o=a.buffer instanceof ArrayBuffer?a:a.slice();e.device.queue.writeBuffer(t,4*i,o),await P(e,i/r)}}async function P(e,t){t%fe===7&&(await e.device.queue.onSubmittedWorkDone().catch(t=>Promise.reject(e.explain(t))),e.check())}async function be(e,{rows:t,features:n,quads:r},i,a,o){let s=4*r,c=Math.max(1,Math.floor(j/(4*s)));for(let r=0;r<t;r+=c){let l=Math.min(t,r+c),u=new Float32Array((l-r)*s);s!==n&&o!==0&&u.fill(o);for(let e=r;e<l;e++){let t=(e-r)*s;for(let r=0;r<n;r++)u[t+r]=a[e*n+r]}e.device.queue.writeBuffer(i,4*r*s,u),await P(e,r/c)}}async function xe(e,{rows:t,features:n,quads:r},i,a){let o=4*r,s=Math.max(1,Math.floor(4*j/(4*o)));for(let r=0;r<t;r+=s){let c=Math.min(t,r+s),l=new Float32Array(await e.read(i,4*r*o,4*(c-r)*o));if(o===n){a.set(l,r*n);continue}for(let e=r;e<c;e++){let t=(e-r)*o;for(let r=0;r<n;r++)a[e*n+r]=l[t+r]}}return a}var F=`0x40000000u`,I=`4294967296.0`,Se=`
fn toFixed(count: f32) -> vec2u {
  let scaled = round(count * params.scale);
  if (!(scaled >= 0.0 && scaled < 4611686018427387904.0)) { return vec2u(0u, ${F}); }
  let high = floor(scaled / ${I});
  return vec2u(u32(scaled - high * ${I}), u32(high));
}

fn sumFixed(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  let high = a.y + b.y + select(0u, 1u, low < a.x);
  // Once too large, always too large.
  return vec2u(low, select(high, ${F}, high >= ${F}));
}

// Not finite where the sum was too large: the masses then tell.
fn fromFixed(count: vec2u) -> f32 {
  let value = (f32(count.y) * ${I} + f32(count.x)) / params.scale;
  return select(value, value * 3e38 * 3e38, count.y >= ${F});
}
`,L=`4.5`,Ce=`
// Σ 1/(x+i) and Π (x+i), i = 0 … 4.
fn shiftSum(x: f32) -> f32 {
  var product = x;
  var slope = 1.0;
  for (var i = 1; i < 5; i++) {
    let factor = x + f32(i);
    slope = slope * factor + product;
    product *= factor;
  }
  return slope / product;
}
fn shiftProduct(x: f32) -> f32 {
  return x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0);
}

// e^−s for s ≥ 0. The built-in may lose 2s units in the last place: split off whole powers of two first.
fn expMinus(s: f32) -> f32 {
  let bounded = min(s, 120.0);
  let n = round(bounded * 1.44269504);
  let r = (n * 0.693359375 - bounded) - n * 2.12194440e-4;
  return ldexp(exp(r), -i32(n));
}

// exp(ψ(x)) = y + 1/(24y) − 37/(5760y³) + …, y = x − ½, after ψ(x) = ψ(x+5) − Σ 1/(x+i) where x is small.
fn expDigamma(x: f32) -> f32 {
  let small = x < ${L};
  let y = select(x - 0.5, x + 4.5, small);
  let r = 1.0 / y;
  let z = r * r;
  let series = y + r * (0.041666667 + z * (-0.0064236111 + z * (0.0035524829 - z * 0.0039535574)));
  let near = min(x, ${L});
  return select(series, series * expMinus(shiftSum(near)), small);
}

fn digamma(x: f32) -> f32 {
  let small = x < ${L};
  let y = select(x, x + 5.0, small);
  let r = 1.0 / y;
  let z = r * r;
  let series = log(y) - 0.5 * r - z * (0.083333333 - z * (0.0083333333 - z * (0.0039682540 - z * 0.0041666667)));
  let near = min(x, ${L});
  return select(series, series - shiftSum(near), small);
}

// Entropy of Gamma(x, 1): x + log Γ(x) + (1 − x) ψ(x). Its parts cancel for large x, so there its own series.
fn gammaEntropy(x: f32) -> f32 {
  let r = 1.0 / max(x, ${L});
  let large = 1.4189385 + 0.5 * log(x) - r * (0.33333333 + r * (0.083333333 + r * (0.011111111 - r * (0.0083333333
    + r * (0.0047619048 - r * (0.0039682540 + r * 0.0047619048))))));
  let near = min(x, ${L});
  let y = near + 5.0;
  let t = 1.0 / y;
  let z = t * t;
  let logGamma = (y - 0.5) * log(y) - y + 0.91893853 + t * (0.083333333 - z * (0.0027777778 - z * 0.00079365079))
    - log(shiftProduct(near));
  return select(large, near + logGamma + (1.0 - near) * digamma(near), x < ${L});
}

// By component; a loop, since a compiler that inlines four copies of these takes seconds.
fn expDigammas(x: vec4f) -> vec4f {
  var y = vec4f(0.0);
  for (var c = 0u; c < 4u; c++) { y[c] = expDigamma(x[c]); }
  return y;
}

// log(1 + y), y ≥ 0, as 2 artanh(y / (2 + y)) below 1.
fn logOnePlus(y: f32) -> f32 {
  let z = y / (2.0 + y);
  let q = z * z;
  let near = 2.0 * z * (1.0 + q * (0.33333333 + q * (0.2 + q * (0.14285714 + q * (0.11111111
    + q * (0.090909091 + q * 0.076923077))))));
  return select(log(1.0 + y), near, y < 1.0);
}
`,R=128;function z(e,t){let n=Math.ceil(e/4),r=Math.min(A(n),32),i=t>8?Math.min(16,R/r):1,a=R/(r*i);return{features:e,quads:n,lanes:r,perLane:Math.ceil(n/r),split:i,rows:a}}function B({features:e,quads:t,lanes:n,split:r,rows:i}){let a=e%4;return`${S(t)}
${Ce}
const QUADS = ${t}u;
const LANES = ${n}u;
const SPLIT = ${r}u;
const ROWS = ${i}u;
var<workgroup> quads: array<vec4f, ${R}>;

// One for real features, zero for the padding of a row's last quad.
fn laneMask(quad: u32) -> vec4f {
  ${a===0?``:`if (quad == ${t-1}u) { return vec4f(${[0,1,2,3].map(e=>e<a?`1.0`:`0.0`).join(`, `)}); }`}
  return vec4f(1.0);
}

fn activityOf(weight: vec2f, shape: vec4f, rate: vec4f, mask: vec4f) -> vec4f {
  var product = vec4f(0.0);
  if ((params.flags & MEAN_ACTIVITY) != 0u) {
    product = (weight.x / weight.y) * (shape / rate);
  } else {
    product = (expDigamma(weight.x) / weight.y) * (expDigammas(shape) / rate);
  }
  return max(product, vec4f(${m})) * mask;
}
`}var V=`@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) local: u32`,H=`
  let at = group.y * groups.x + group.x;
  let lane = local % LANES;
  let part = (local / LANES) % SPLIT;
  let row = params.first + at * ROWS + local / (LANES * SPLIT);
  let live = row < params.last;`,we=`
    quads[local] = mean;
    workgroupBarrier();
    if (local < LANES && quad < QUADS) {
      var total = quads[local];
      for (var r = 1u; r < ROWS; r++) { total += quads[local + r * LANES * SPLIT]; }
      masses[at * QUADS + quad] = total;
    }
    workgroupBarrier();`,Te=`
    var total = vec4f(0.0);
    if (quad < QUADS) {
      var slot = begin + part;
      var total1 = vec4f(0.0);
      var total2 = vec4f(0.0);
      var total3 = vec4f(0.0);
      for (; slot + 3u * SPLIT < end; slot += 4u * SPLIT) {
        total += partials[slot * QUADS + quad];
        total1 += partials[(slot + SPLIT) * QUADS + quad];
        total2 += partials[(slot + 2u * SPLIT) * QUADS + quad];
        total3 += partials[(slot + 3u * SPLIT) * QUADS + quad];
      }
      total = (total + total1) + (total2 + total3);
      for (; slot < end; slot += SPLIT) { total += partials[slot * QUADS + quad]; }
    }
    if (SPLIT > 1u) {
      quads[local] = total;
      workgroupBarrier();
      if (part == 0u) { for (var p = 1u; p < SPLIT; p++) { total += quads[local + p * LANES]; } }
      workgroupBarrier();
    }`,Ee=`
  var begin = 0u;
  var end = 0u;
  if (live) { begin = firstSlot[row]; end = firstSlot[row + 1u]; }`;function De(e){return`${B(e)}
${Se}
@group(0) @binding(1) var<storage, read> firstSlot: array<u32>;
@group(0) @binding(2) var<storage, read> partials: array<vec4f>;
@group(0) @binding(3) var<storage, read> activity: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> counts: array<vec2u>;
@compute @workgroup_size(${R})
fn main(${V}) {
  ${H}
  ${Ee}
  for (var v = 0u; v < ${e.perLane}u; v++) {
    let quad = v * LANES + lane;
    ${Te}
    if (live && part == 0u && quad < QUADS && begin < end) {
      let cell = row * QUADS + quad;
      let expected = activity[cell] * total;
      for (var c = 0u; c < 4u; c++) {
        counts[4u * cell + c] = sumFixed(counts[4u * cell + c], toFixed(expected[c]));
      }
    }
  }
}
`}function Oe(e,t){let{perLane:n,lanes:r}=e,i=t===`partials`,a=[];for(let e=r/2;e>=1;e/=2)a.push(`if (lane < ${e}u) { sums[local] += sums[local + ${e}u]; }
  workgroupBarrier();`);return`${B(e)}
${i?`@group(0) @binding(1) var<storage, read> firstSlot: array<u32>;
@group(0) @binding(2) var<storage, read> partials: array<vec4f>;`:`${Se}
@group(0) @binding(2) var<storage, read> counts: array<vec2u>;`}
@group(0) @binding(3) var<storage, read_write> weights: array<vec2f>;
@group(0) @binding(4) var<storage, read_write> shapes: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> rates: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> activity: array<vec4f>;
@group(0) @binding(7) var<storage, read> otherTotals: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> masses: array<vec4f>;
var<workgroup> sums: array<vec2f, ${R}>;

fn otherMass(quad: u32) -> vec4f {
  if ((params.flags & MASS_GIVEN) != 0u) { return params.mass[quad]; }
  return otherTotals[quad] + otherTotals[QUADS + quad];
}

@compute @workgroup_size(${R})
fn main(${V}) {
  ${H}
  ${i?Ee:``}
  var expected: array<vec4f, ${n}>;
  var sum = vec2f(0.0);
  for (var v = 0u; v < ${n}u; v++) {
    let quad = v * LANES + lane;
    ${i?Te:``}
    if (live && part == 0u && quad < QUADS) {
      let cell = row * QUADS + quad;
      ${i?`expected[v] = activity[cell] * total;`:`for (var c = 0u; c < 4u; c++) { expected[v][c] = fromFixed(counts[4u * cell + c]); }`}
      sum += vec2f(dot(expected[v], vec4f(1.0)), dot(shapes[cell] / rates[cell], otherMass(quad)));
    }
  }
  sums[local] = sum;
  workgroupBarrier();
  ${a.join(`
  `)}
  let both = sums[local - lane - part * LANES];
  let weight = vec2f(max(both.x - params.sigma, ${h}), params.tau + both.y);
  let weightMean = weight.x / weight.y;
  if (live && part == 0u && lane == 0u) { weights[row] = weight; }
  for (var v = 0u; v < ${n}u; v++) {
    let quad = v * LANES + lane;
    var mean = vec4f(0.0);
    if (live && part == 0u && quad < QUADS) {
      let cell = row * QUADS + quad;
      let mask = laneMask(quad);
      let farther = expected[v] + params.relaxation * (expected[v] - (shapes[cell] - params.shape));
      let moved = select(expected[v], max(farther, ${u} * expected[v]), params.relaxation > 0.0);
      let shape = (params.shape + moved) * mask;
      let rate = select(vec4f(1.0), params.rate + weightMean * otherMass(quad), mask > vec4f(0.0));
      shapes[cell] = shape;
      rates[cell] = rate;
      activity[cell] = activityOf(weight, shape, rate, mask);
      mean = weightMean * (shape / rate);
    }
    ${we}
  }
}
`}function ke(e){return`${B(e)}
@group(0) @binding(1) var<storage, read> weights: array<vec2f>;
@group(0) @binding(2) var<storage, read> shapes: array<vec4f>;
@group(0) @binding(3) var<storage, read> rates: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> activity: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> masses: array<vec4f>;
@compute @workgroup_size(${R})
fn main(${V}) {
  ${H}
  for (var v = 0u; v < ${e.perLane}u; v++) {
    let quad = v * LANES + lane;
    var mean = vec4f(0.0);
    if (live && part == 0u && quad < QUADS) {
      let cell = row * QUADS + quad;
      let weight = weights[row];
      activity[cell] = activityOf(weight, shapes[cell], rates[cell], laneMask(quad));
      mean = (weight.x / weight.y) * (shapes[cell] / rates[cell]);
    }
    ${we}
  }
}
`}function Ae(e){return`${B(e)}
@group(0) @binding(1) var<storage, read> weights: array<vec2f>;
@group(0) @binding(2) var<storage, read> shapes: array<vec4f>;
@group(0) @binding(3) var<storage, read> rates: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> sums: array<f32>;
var<workgroup> parts: array<f32, ${R}>;
@compute @workgroup_size(${R})
fn main(${V}) {
  ${H}
  var sum = 0.0;
  if (live && part == 0u) {
    for (var v = 0u; v < ${e.perLane}u; v++) {
      let quad = v * LANES + lane;
      if (quad >= QUADS) { break; }
      let shape4 = shapes[row * QUADS + quad];
      let rate4 = rates[row * QUADS + quad];
      for (var c = 0u; c < 4u && 4u * quad + c < ${e.features}u; c++) {
        let shape = shape4[c];
        let logRate = log(rate4[c]);
        sum += params.constant + (params.shape - 1.0) * (digamma(shape) - logRate)
          - params.rate * (shape / rate4[c]) + (gammaEntropy(shape) - logRate);
      }
    }
    if (lane == 0u) {
      let weight = weights[row];
      let logRate = log(weight.y);
      sum += (-1.0 - params.sigma) * (digamma(weight.x) - logRate) - params.tau * (weight.x / weight.y)
        + (gammaEntropy(weight.x) - logRate);
    }
  }
  parts[local] = sum;
  workgroupBarrier();
  for (var half = ${R/2}u; half > 0u; half /= 2u) {
    if (local < half) { parts[local] += parts[local + half]; }
    workgroupBarrier();
  }
  if (local == 0u) { sums[at] = parts[0]; }
}
`}function je(e){return`${B(e)}
@group(0) @binding(1) var<storage, read_write> weights: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> shapes: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> rates: array<vec4f>;
@compute @workgroup_size(${R})
fn main(${V}) {
  ${H}
  if (!live || part != 0u) { return; }
  if (lane == 0u) { weights[row] = vec2f(params.sigma, params.tau); }
  for (var quad = lane; quad < QUADS; quad += LANES) {
    let mask = laneMask(quad);
    shapes[row * QUADS + quad] = params.shape * mask;
    rates[row * QUADS + quad] = select(vec4f(1.0), vec4f(params.rate), mask > vec4f(0.0));
  }
}
`}async function Me(e,t,n){let r=t.neighbors.length,i=n.chunkEdges??Math.floor(e.maxBinding/256)*64,a=4*r*(t.counts?2:1),o=await g(e,`an index of ${r} edges`,a,()=>{let n=[];for(let a=0;a<r;a+=i){let o=4*(Math.min(r,a+i)-a),s=t.counts&&M(e,`counts of edges`,o);n.push({neighbors:M(e,`edges`,o),counts:s})}return n});for(let[n,{neighbors:r,counts:a}]of o.entries()){let[o,s]=[n*i,(n+1)*i];await N(e,r,t.neighbors.subarray(o,s)),a&&await N(e,a,t.counts.subarray(o,s))}return{rows:t.offsets.length-1,edges:r,source:t,multigraph:t.counts!==void 0,chunks:o,chunkEdges:i,plans:new Map}}function U(e,t,n,r,i){let a=`${n} ${r}`,o=t.plans.get(a);return o||t.plans.set(a,o=Ne(e,t,n,r,i)),o}async function Ne(e,t,n,r,i){let a=de(n,e.subgroupSize,i),o=r*a.quads*16,s=a.tile>0?Math.max(1,Math.ceil(o/a.tile)):1,{block:c,short:l}=a,u=oe(t.source,{block:c,short:l,chunkEdges:t.chunkEdges,tiles:s,otherRows:r}),d=16*u.slots+4*u.firstSlot.length,{firstSlot:f,groups:p}=await g(e,`the list of ${u.slots} tasks`,d,()=>({firstSlot:M(e,`slots of rows`,4*u.firstSlot.length),groups:u.groups.map(({chunk:t,short:n,records:r})=>({tasks:M(e,`tasks`,4*r.length),count:r.length/4,chunk:t,short:n}))}));await N(e,f,u.firstSlot);for(let[t,{tasks:n}]of p.entries())await N(e,n,u.groups[t].records);return{layout:a,rowLayout:z(n,u.mostSlots),groups:p,firstSlot:f,slots:u.slots}}function Pe({chunks:e,plans:t}){for(let{neighbors:t,counts:n}of e)t.destroy(),n?.destroy();for(let e of t.values())e.then(({groups:e,firstSlot:t})=>{for(let{tasks:t}of e)t.destroy();t.destroy()},()=>{})}function Fe(e){return e.layout.subgroups?Re(e):ze(e)}function Ie({layout:e,multigraph:t,withTerm:n}){return`
struct Range { first: u32, last: u32 }
@group(0) @binding(0) var<uniform> range: Range;
@group(0) @binding(1) var<storage, read> tasks: array<vec4u>;
@group(0) @binding(2) var<storage, read> neighbors: array<u32>;
@group(0) @binding(3) var<storage, read> own: array<vec4f>;
@group(0) @binding(4) var<storage, read> other: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> partials: array<vec4f>;
${n?`@group(0) @binding(6) var<storage, read_write> terms: array<f32>;`:``}
${t?`@group(0) @binding(7) var<storage, read> counts: array<u32>;`:``}
const QUADS = ${e.quads}u;
const LANES = ${e.lanes}u;
const NONE = 0xffffffffu;

// 1 − e^−λ, whose leading digits cancel for small λ.
fn oneMinusExp(lambda: f32) -> f32 {
  let series = lambda * (1.0 - lambda * (0.5 - lambda * (0.16666667 - lambda * (0.041666667
    - lambda * (0.0083333333 - lambda * 0.0013888889)))));
  return select(1.0 - exp(-lambda), series, lambda < 0.3);
}
`}function Le({multigraph:e,withTerm:t},n){return e?`w = count / lambda;
      ${t?`if (${n}) { term += count * log(lambda); }`:``}`:`let seen = oneMinusExp(lambda);
      w = 1.0 / seen;
      ${t?`if (${n}) { term += lambda + log(seen); }`:``}`}var W=(e,t)=>Array.from({length:e},(e,n)=>t(n)).join(`
`);function Re(e){let{layout:t,short:n,multigraph:r,withTerm:i}=e,{quads:a,lanes:o,perLane:s,steps:c,workgroup:l}=t,u=n?o:t.team,d=u/o,f=e=>o*(e+1)>a?`lane < ${a-o*e}u`:`true`,p=e=>`${o*e}u + lane`,m=[];for(let e=c/2;e>=1;e/=2){m.push(`let upper${e} = (lane & ${e}u) != 0u;`);for(let t=0;t<e;t++)m.push(`d${t} = select(d${t}, d${t+e}, upper${e})
        + subgroupShuffleXor(select(d${t+e}, d${t}, upper${e}), ${e}u);`)}for(let e=c;e<o;e*=2)m.push(`d0 += subgroupShuffleXor(d0, ${e}u);`);let h=[];for(let e=o;e<u;e*=2)for(let t=0;t<s;t++)h.push(`sum${t} += subgroupShuffleXor(sum${t}, ${e}u);`);let g=[];for(let e=1;e<u;e*=2)g.push(`term += subgroupShuffleXor(term, ${e}u);`);return`enable subgroups;
diagnostic(off, subgroup_uniformity);
${Ie(e)}
@compute @workgroup_size(${l})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) local: u32, @builtin(subgroup_invocation_id) invocation: u32) {
  let at = ((group.y * groups.x + group.x) * ${l}u + local) / ${u}u;
  let lane = local % LANES;
  let place = (local / LANES) % ${d}u;
  let first = invocation - lane;
  let exists = at < arrayLength(&tasks);
  var task = vec4u(0u);
  if (exists) {
    task = tasks[at];
    if (task.x < range.first || task.x >= range.last) { task.w = 0u; }
  }
  let live = task.w > 0u;
  // All teams of a subgroup go round together, so that every lane is there for every exchange.
  let most = subgroupMax(task.w);
  let edges = task.z;
  ${W(s,e=>`var own${e} = vec4f(0.0); var sum${e} = vec4f(0.0);
  if (live && ${f(e)}) { own${e} = own[task.x * QUADS + ${p(e)}]; }`)}
  ${i?`var term = 0.0;`:``}
  for (var done = 0u; done < most; done += ${c*d}u) {
    // This lane's own edge: it reads the neighbour, and later makes the weight.
    let mine = done + (lane % ${c}u) * ${d}u + place;
    let valid = mine < task.w;
    var id = NONE;
    ${r?`var count = 0.0;`:``}
    if (valid) {
      id = neighbors[edges + mine];
      ${r?`count = f32(counts[edges + mine]);`:``}
    }
    ${W(c,e=>`let id${e} = subgroupShuffle(id, first + ${e}u);`)}
    ${W(c,e=>W(s,t=>`var b${e}_${t} = vec4f(0.0);`))}
    ${W(c,e=>`if (id${e} != NONE) {
      let row = id${e} * QUADS;
      ${W(s,t=>`if (${f(t)}) { b${e}_${t} = other[row + ${p(t)}]; }`)}
    }`)}
    ${W(c,e=>`var d${e} = ${Array.from({length:s},(t,n)=>`dot(own${n}, b${e}_${n})`).join(` + `)};`)}
    ${m.join(`
    `)}
    let lambda = d0;
    var w = 0.0;
    if (valid) {
      ${Le(e,o>c?`lane < ${c}u`:`true`)}
    }
    ${W(c,e=>`{
      let weight = subgroupShuffle(w, first + ${e}u);
      ${W(s,t=>`sum${t} += weight * b${e}_${t};`)}
    }`)}
  }
  ${h.join(`
  `)}
  if (live && place == 0u) {
    ${W(s,e=>`if (${f(e)}) { partials[task.y * QUADS + ${p(e)}] = sum${e}; }`)}
  }
  ${i?`${g.join(`
  `)}
  if (exists && place == 0u && lane == 0u) { terms[task.y] = term; }`:``}
}
`}function ze(e){let{layout:t,multigraph:n,withTerm:r}=e,{lanes:i,perLane:a,workgroup:o}=t,s=o/i;return`${Ie(e)}
var<workgroup> dots: array<f32, ${o}>;
var<workgroup> quads: array<vec4f, ${o}>;
@compute @workgroup_size(${o})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let at = group.y * groups.x + group.x;
  if (at >= arrayLength(&tasks)) { return; }
  let task = tasks[at];
  let inRange = task.x >= range.first && task.x < range.last;
  ${r?`if (!inRange && local == 0u) { terms[task.y] = 0.0; }`:``}
  if (!inRange) { return; }
  let lane = local % LANES;
  let place = local / LANES;
  var a: array<vec4f, ${a}>;
  var sum: array<vec4f, ${a}>;
  for (var v = 0u; v < ${a}u; v++) {
    let quad = v * LANES + lane;
    if (quad < QUADS) { a[v] = own[task.x * QUADS + quad]; }
  }
  ${r?`var term = 0.0;`:``}
  for (var done = 0u; done < task.w; done += ${s}u) {
    let mine = done + place;
    let valid = mine < task.w;
    var b: array<vec4f, ${a}>;
    var d = 0.0;
    ${n?`var count = 0.0;`:``}
    if (valid) {
      let row = neighbors[task.z + mine] * QUADS;
      ${n?`count = f32(counts[task.z + mine]);`:``}
      for (var v = 0u; v < ${a}u; v++) {
        let quad = v * LANES + lane;
        if (quad < QUADS) { b[v] = other[row + quad]; d += dot(a[v], b[v]); }
      }
    }
    dots[local] = d;
    workgroupBarrier();
    var lambda = 0.0;
    for (var i = 0u; i < LANES; i++) { lambda += dots[local - lane + i]; }
    workgroupBarrier();
    if (valid) {
      var w = 0.0;
      ${Le(e,`lane == 0u`)}
      for (var v = 0u; v < ${a}u; v++) { sum[v] += w * b[v]; }
    }
  }
  for (var v = 0u; v < ${a}u; v++) {
    quads[local] = sum[v];
    workgroupBarrier();
    let quad = v * LANES + lane;
    if (place == 0u && quad < QUADS) {
      var total = quads[local];
      for (var p = 1u; p < ${s}u; p++) { total += quads[local + p * LANES]; }
      partials[task.y * QUADS + quad] = total;
    }
    workgroupBarrier();
  }
  ${r?`dots[local] = term;
  workgroupBarrier();
  if (local == 0u) {
    var total = 0.0;
    for (var i = 0u; i < ${o}u; i++) { total += dots[i]; }
    terms[task.y] = total;
  }`:``}
}
`}var G=256;function Be(e){return`${S(e)}
@group(0) @binding(1) var<storage, read> masses: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4f>;
const QUADS = ${e}u;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quad = id.x % QUADS;
  let begin = (id.x / QUADS) * params.chunk;
  if (begin >= params.partials) { return; }
  let end = min(begin + params.chunk, params.partials);
  var total = vec4f(0.0);
  for (var i = begin; i < end; i++) { total += masses[i * QUADS + quad]; }
  sums[id.x] = total;
}
`}function Ve(e){let t=Math.ceil(e/4),n=A(t),r=G/n;return`${S(t)}
${Ce}
@group(0) @binding(1) var<storage, read> sums: array<vec4f>;
@group(0) @binding(2) var<storage, read> otherTotals: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> totals: array<vec4f>;
const QUADS = ${t}u;
const LANES = ${n}u;
const WAYS = ${r}u;
var<workgroup> parts: array<vec4f, ${G}>;
var<workgroup> ratios: array<vec4f, QUADS>;
var<workgroup> terms: array<f32, ${G}>;
var<workgroup> times: array<f32, ${G}>;
var<workgroup> points: u32;
var<workgroup> left: f32;
var<workgroup> bend: f32;

fn otherMass(quad: u32) -> vec4f {
  if ((params.flags & MASS_GIVEN) != 0u) { return params.mass[quad]; }
  return otherTotals[quad] + otherTotals[QUADS + quad];
}

@compute @workgroup_size(${G})
fn main(@builtin(local_invocation_index) local: u32) {
  let quad = local % LANES;
  let way = local / LANES;
  var total = vec4f(0.0);
  if (quad < QUADS) {
    for (var i = way; i < params.partials; i += WAYS) { total += sums[i * QUADS + quad]; }
  }
  parts[local] = total;
  workgroupBarrier();
  if (way == 0u && quad < QUADS) {
    for (var i = 1u; i < WAYS; i++) { total += parts[local + i * LANES]; }
    totals[quad] = total;
    let mass = otherMass(quad);
    totals[2u * QUADS + quad] = mass;
    ratios[quad] = mass / params.rate;
  }
  workgroupBarrier();
  if ((params.flags & HAS_LEFTOVER) == 0u) {
    if (way == 0u && quad < QUADS) { totals[QUADS + quad] = vec4f(0.0); }
    return;
  }

  let power = 1.0 - params.sigma;
  let step = 0.2 / sqrt(max(1.0, power / 3.0));
  if (local == 0u) {
    var largest = 0.0;
    var sum = 0.0;
    for (var i = 0u; i < QUADS; i++) {
      let r = ratios[i];
      largest = max(largest, max(max(r.x, r.y), max(r.z, r.w)));
      sum += dot(r, vec4f(1.0));
    }
    bend = -log(max(max(params.tau, largest), params.shape * sum)) - 3.0;
    left = bend - log(40.0 / power + 1.0);
    // e^(−τt) t^(1−σ) has fallen by more than float32 can tell.
    let right = log((40.0 + 4.0 * power) / params.tau);
    points = u32(ceil(max(right - left, 1.0) / step)) + 1u;
  }
  workgroupBarrier();
  let count = workgroupUniformLoad(&points);
  var leftover = vec4f(0.0);
  for (var base = 0u; base < count; base += ${G}u) {
    var term = 0.0;
    var t = 0.0;
    if (base + local < count) {
      let y = f32(base + local) * step;
      let bent = exp(bend - left - y);
      let x = left + y - bent;
      t = exp(x);
      var product = 0.0;
      for (var k = 0u; k < ${e}u; k++) { product += logOnePlus(t * ratios[k / 4u][k % 4u]); }
      term = (1.0 + bent) * exp(power * x - params.tau * t - params.shape * product - params.logNorm);
    }
    terms[local] = term;
    times[local] = t;
    workgroupBarrier();
    if (quad < QUADS) {
      for (var i = way; i < ${G}u; i += WAYS) { leftover += terms[i] / (1.0 + times[i] * ratios[quad]); }
    }
    workgroupBarrier();
  }
  parts[local] = leftover;
  workgroupBarrier();
  if (way == 0u && quad < QUADS) {
    for (var i = 1u; i < WAYS; i++) { leftover += parts[local + i * LANES]; }
    let cell = vec4u(4u * quad) + vec4u(0u, 1u, 2u, 3u);
    let factor = params.size * step * params.shape / params.rate;
    totals[QUADS + quad] = select(vec4f(0.0), factor * leftover, cell < vec4u(${e}u));
  }
}
`}var He=1024,Ue=e=>Math.min(512,Math.ceil(e/He)),We=`
@group(0) @binding(0) var<storage, read> terms: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
var<workgroup> parts: array<f32, ${G}>;
@compute @workgroup_size(${G})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let share = (arrayLength(&terms) + groups.x - 1u) / groups.x;
  let end = min((group.x + 1u) * share, arrayLength(&terms));
  var total = 0.0;
  for (var i = group.x * share + local; i < end; i += ${G}u) { total += terms[i]; }
  parts[local] = total;
  workgroupBarrier();
  for (var half = ${G/2}u; half > 0u; half /= 2u) {
    if (local < half) { parts[local] += parts[local + half]; }
    workgroupBarrier();
  }
  if (local == 0u) { sums[group.x] = parts[0]; }
}
`,Ge=32;function Ke(e,t){let n=qe(e,()=>t.forget()),r={buffer:M(e,`sums of the edge term`,2048),count:0},i=M(e,`no totals`,6144),a=new Map;async function o(e,r,i,a){let{quads:o}=e,s=await t.kernel(`mass`,Be(o),[`params`,`read`,`write`]),c=await t.kernel(`totals`,Ve(e.features),[`params`,`read`,`read`,`write`]),l=Math.max(Ge,Math.ceil(i/512)),u=Math.ceil(i/l),d=n.get(`masses`,i*o*16),f=n.get(`mass sums`,u*o*16),p=t.params({...a,partials:i,chunk:l});t.run(s,p,[{buffer:d},{buffer:f}],Math.ceil(u*o/64));let m=[{buffer:f},{buffer:r},{buffer:e.totals}];t.run(c,t.params({...a,partials:u}),m,1)}async function s(e,r){let i=z(e.features,1),a=await t.kernel(`refresh`,ke(i),[`params`,`read`,`read`,`read`,`write`,`write`]),o=Math.ceil(e.rows/i.rows),s=await n.grow(`masses`,o*e.quads*16);await n.grow(`mass sums`,o*e.quads*16),t.reserve(3);let c=[e.weights,e.shapes,e.rates,e.activity,s];return t.run(a,t.params(r),c.map(K),o),o}function c(e,n,r,i){let o=`edges${n?`, short rows`:``}`,s=`${e.features} ${n} ${r} ${i}`,c=a.get(s);return c||(c=t.kernel(o,Fe({layout:e,short:n,multigraph:r,withTerm:i}),[`params`,`read`,`read`,`read`,`read`,`write`,i?`write`:void 0,r?`read`:void 0]),a.set(s,c)),c}async function l(e,i,a,o,s,l){let{layout:u,groups:d,slots:f}=o,p=await n.grow(`partial sums`,f*e.quads*16),m=l?await n.grow(`edge terms`,4*f):void 0,h=await Promise.all(d.map(({short:e})=>c(u,e,i.multigraph,l))),g=await t.kernel(`edge term`,We,[`read`,`write`]);t.reserve(3);let _=t.params(s);for(let[n,{tasks:r,count:o,chunk:s,short:c}]of d.entries()){let{neighbors:l,counts:d}=i.chunks[s],f=[{buffer:r,size:16*o},...[l,e.activity,a.activity,p].map(K)];m&&f.push({buffer:m}),d&&f.push({buffer:d});let g=u.subgroups?u.workgroup/(c?u.lanes:u.team):1;t.run(h[n],_,f,Math.ceil(o/g))}m&&(r.count=Ue(f),t.run(g,0,[{buffer:m,size:4*f},{buffer:r.buffer}],r.count))}async function u(e,t,r,i){let a=n.get(`partial sums`,r.slots*e.quads*16);await f(e,t.totals,r.rowLayout,i,`partials`,[r.firstSlot,a])}async function d(e,t,n){let r=z(e.features,1);await f(e,i,r,{...n,scale:t.scale},`counts`,[t.values])}async function f(e,r,i,a,s,c){let l=Math.ceil((a.last-a.first)/i.rows),u=await n.grow(`masses`,l*e.quads*16);await n.grow(`mass sums`,l*e.quads*16);let d=s===`partials`?`read`:void 0,f=await t.kernel(s===`partials`?`rows`:`counted rows`,Oe(i,s),[`params`,d,`read`,`write`,`write`,`write`,`write`,`read`,`write`]);t.reserve(3);let p=[e.weights,e.shapes,e.rates,e.activity],m=[...c,...p,r,u];t.run(f,t.params(a),m.map(K),l),await o(e,r,l,a)}async function p(e,r,i,a){let o=r.rowLayout,s=await t.kernel(`counts`,De(o),[`params`,`read`,`read`,`read`,`write`]);t.reserve(1);let c=n.get(`partial sums`,r.slots*e.quads*16),l=[r.firstSlot,c,e.activity,i.values],u=t.params({...a,scale:i.scale});t.run(s,u,l.map(K),Math.ceil((a.last-a.first)/o.rows))}async function m(e,n){let r=z(e.features,1),i=await t.kernel(`fill`,je(r),[`params`,`write`,`write`,`write`]);t.reserve(1);let{weightShape:a,weightRate:o,featureShape:s,featureRate:c}=n,l=t.params({first:0,last:e.rows,hyper:{sigma:a,tau:o,shape:s,rate:c,size:0}}),u=[e.weights,e.shapes,e.rates];t.run(i,l,u.map(K),Math.ceil(e.rows/r.rows))}async function h(e,t){let n={first:0,last:e.rows,activity:t};await o(e,i,await s(e,n),n)}return{scratch:n,terms:r,show:h,refresh:s,edgePass:l,rowPass:u,countPass:p,countedRowPass:d,fill:m}}var K=e=>({buffer:e});function qe(e,t){let n=new Map;return{async grow(r,i){let a=n.get(r);if(a&&a.size>=i)return a;t(),a?.destroy();let o=await g(e,r,i,()=>M(e,r,i));return n.set(r,o),o},get(e,t){let i=n.get(e);if(!i||i.size<t)throw new r(`scratch "${e}" was not made`);return i}}}var q=256,J=4,Y=8,X=({quads:e,candidates:t,depth:n,top:r})=>`
struct Block { first: u32, last: u32 }
@group(0) @binding(0) var<uniform> block: Block;
const QUADS = ${e}u;
const CANDIDATES = ${t}u;
const DEPTH = ${n}u;
const TOP = ${r}u;
// The lowest score stands for no score: WGSL knows no infinity.
const NOTHING = -0x1.fffffep+127f;
`,Z=`@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) local: u32`,Q=`
  let at = group.y * groups.x + group.x;
  if (block.first + at >= block.last) { return; }
  let row = rows[block.first + at];
  let scored = at * CANDIDATES;`;function Je(e){return`${X(e)}
@group(0) @binding(1) var<storage, read> users: array<vec4f>;
@group(0) @binding(2) var<storage, read> items: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> scores: array<f32>;
var<workgroup> a: array<vec4f, 256>;
var<workgroup> b: array<vec4f, 256>;
@compute @workgroup_size(${q})
fn main(${Z}) {
  let columns = (CANDIDATES + 63u) / 64u;
  let tile = group.y * groups.x + group.x;
  let firstRow = block.first + (tile / columns) * 64u;
  let firstItem = (tile % columns) * 64u;
  if (firstRow >= block.last) { return; }
  let x = local % 16u;
  let y = local / 16u;
  var sums: array<vec4f, 4>;
  for (var quad = 0u; quad < QUADS; quad += ${J}u) {
    // Each invocation fetches one vector of either table; quads lie apart so that neighbours read side by side.
    let q = quad + local % ${J}u;
    let r = local / ${J}u;
    let to = (local % ${J}u) * 64u + r;
    a[to] = vec4f(0.0);
    b[to] = vec4f(0.0);
    if (q < QUADS && firstRow + r < block.last) { a[to] = users[(firstRow + r) * QUADS + q]; }
    if (q < QUADS && firstItem + r < CANDIDATES) { b[to] = items[(firstItem + r) * QUADS + q]; }
    workgroupBarrier();
    for (var s = 0u; s < ${J}u; s++) {
      let b0 = b[s * 64u + x];
      let b1 = b[s * 64u + x + 16u];
      let b2 = b[s * 64u + x + 32u];
      let b3 = b[s * 64u + x + 48u];
      for (var i = 0u; i < 4u; i++) {
        let own = a[s * 64u + y + 16u * i];
        sums[i] += vec4f(dot(own, b0), dot(own, b1), dot(own, b2), dot(own, b3));
      }
    }
    workgroupBarrier();
  }
  for (var i = 0u; i < 4u; i++) {
    let row = firstRow + y + 16u * i;
    for (var j = 0u; j < 4u; j++) {
      let item = firstItem + x + 16u * j;
      if (row < block.last && item < CANDIDATES) { scores[(row - block.first) * CANDIDATES + item] = sums[i][j]; }
    }
  }
}
`}function Ye(e,t){return`${X(e)}
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> values: array<u32>;
@group(0) @binding(4) var<storage, read_write> scores: array<f32>;
@compute @workgroup_size(${q})
fn main(${Z}) {
  ${Q}
  let list = ${t?`row`:`0u`};
  for (var i = offsets[list] + local; i < offsets[list + 1u]; i += ${q}u) {
    scores[scored + values[i]] = NOTHING;
  }
}
`}function Xe(e){let t=e=>Array.from({length:Y},(t,n)=>e(n)).join(`
`);return`${X(e)}
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> relevant: array<u32>;
@group(0) @binding(4) var<storage, read> scores: array<f32>;
@group(0) @binding(5) var<storage, read_write> ranks: array<u32>;
var<workgroup> above: array<atomic<u32>, ${Y}>;
@compute @workgroup_size(${q})
fn main(${Z}) {
  ${Q}
  let end = offsets[row + 1u];
  for (var first = offsets[row]; first < end; first += ${Y}u) {
    if (local < ${Y}u) { atomicStore(&above[local], 0u); }
    ${t(e=>`let p${e} = relevant[min(first + ${e}u, end - 1u)];
    let s${e} = scores[scored + p${e}];
    var n${e} = 0u;`)}
    for (var c = local; c < CANDIDATES; c += ${q}u) {
      let s = scores[scored + c];
      ${t(e=>`n${e} += select(0u, 1u, s > s${e} || (s == s${e} && c < p${e}));`)}
    }
    workgroupBarrier();
    ${t(e=>`atomicAdd(&above[${e}], n${e});`)}
    workgroupBarrier();
    if (local < ${Y}u && first + local < end) {
      let rank = atomicLoad(&above[local]) + 1u;
      ranks[first + local] = select(0u, rank, rank <= DEPTH);
    }
    workgroupBarrier();
  }
}
`}function Ze(e){return`${X(e)}
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> scores: array<f32>;
@group(0) @binding(4) var<storage, read_write> shown: array<atomic<u32>>;
var<workgroup> counted: atomic<u32>;
var<workgroup> total: u32;

// Whole numbers in the order of the scores.
fn keyOf(score: f32) -> u32 {
  let bits = select(bitcast<u32>(score), 0u, score == 0.0); // there are two zeros
  return select(bits ^ 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

/** Candidates of the row with a key from \`least\` to \`most\` and a position below \`before\`. */
fn countKeys(local: u32, scored: u32, least: u32, most: u32, before: u32) -> u32 {
  var n = 0u;
  for (var c = local; c < before; c += ${q}u) {
    let key = keyOf(scores[scored + c]);
    n += select(0u, 1u, key >= least && key <= most);
  }
  atomicAdd(&counted, n);
  workgroupBarrier();
  if (local == 0u) { total = atomicExchange(&counted, 0u); }
  return workgroupUniformLoad(&total);
}

@compute @workgroup_size(${q})
fn main(${Z}) {
  ${Q}
  if (offsets[row] == offsets[row + 1u]) { return; }
  let least = keyOf(NOTHING) + 1u;
  let most = 0xffffffffu;
  let wanted = min(TOP, countKeys(local, scored, least, most, CANDIDATES));
  if (wanted == 0u) { return; }
  var key = 0u;
  for (var bit = 0x80000000u; bit > 0u; bit >>= 1u) {
    if (countKeys(local, scored, key | bit, most, CANDIDATES) >= wanted) { key |= bit; }
  }
  var higher = 0u;
  if (key < most) { higher = countKeys(local, scored, key + 1u, most, CANDIDATES); }
  var position = 0u;
  for (var bit = 1u << firstLeadingBit(CANDIDATES); bit > 0u; bit >>= 1u) {
    let tried = position | bit;
    if (tried < CANDIDATES && higher + countKeys(local, scored, key, key, tried) < wanted) { position = tried; }
  }
  for (var c = local; c < CANDIDATES; c += ${q}u) {
    let own = keyOf(scores[scored + c]);
    if (own > key || (own == key && c <= position)) { atomicStore(&shown[c], 1u); }
  }
}
`}var Qe=2**28;async function $e(t,n,r,i,a,{signal:o,onProgress:s,scoreBytes:c}={}){e(o);let l=p(a),u=d(a);if(u.length===0)return l;let f=[];try{let d=await rt(t,n,r,i,a,u,c,f);for(let t=0;t<u.length;t+=d.blockRows)e(o),s?.({stage:`ranking`,done:t,total:u.length,unit:`users`}),d.rankBlock(t,Math.min(u.length,t+d.blockRows)),await n.pace(d.blockRows*i.length);for(let[e,{ranks:t,shown:r}]of d.views.entries()){let a=await n.read(t,0,4*l.ranks[e].length);l.ranks[e].set(new Uint32Array(a)),l.shown[e].set(new Uint32Array(await n.read(r,0,4*i.length)))}return s?.({stage:`ranking`,done:u.length,total:u.length,unit:`users`}),l}finally{nt(n,f)}}var et=-3e38;async function tt(t,n,r,i,a,o,s,{signal:u,scoreBytes:d}={}){e(u);let f=l(a.length,Math.min(o,i.length));if(a.length===0||f.listed===0)return f;let p={candidates:i.length,views:[],excluded:s,depth:o,top:o},m=[];try{let o=await rt(t,n,r,i,p,a,d,m);for(let t=0;t<a.length;t+=o.blockRows){e(u);let r=Math.min(a.length,t+o.blockRows);o.rankBlock(t,r);let s=4*(r-t)*i.length,l=new Float32Array(await n.read(o.scores,0,s));for(let e=0;e<l.length;e++)l[e]<et&&(l[e]=-1/0);for(let e=t;e<r;e++){let n=(e-t)*i.length;c(l.subarray(n,n+i.length),e,f)}}return f}finally{nt(n,m)}}function nt(e,t){e.forget();for(let e of t)e.destroy()}async function rt(e,t,{users:n,items:r,features:i},a,{views:o,excluded:s,depth:c,top:l},u,d,f){let p={quads:Math.ceil(i/4),candidates:a.length,depth:c,top:l},m=Math.floor(Math.min(d??Qe,e.maxBinding)/(4*a.length)),h=Math.min(u.length,Math.max(1,m-(m>64?m%64:0))),_=async(t,n)=>{let r=n.byteLength,i=await g(e,t,r,()=>M(e,t,r));return f.push(i),await N(e,i,n),i},v=async(e,{offsets:t,values:n})=>({offsets:await _(`the rows of ${e}`,t),values:await _(e,n)}),y=await _(`the list of rows`,u),b=await _(`the features of ${u.length} users`,it(n,u,i)),x=await _(`the features of ${a.length} items`,it(r,a,i)),S=4*h*a.length,C=`the scores of ${h} users`,w=await g(e,C,S,()=>M(e,C,S));f.push(w);let T=s&&await v(`items that are left out`,s),E=[];for(let{without:e,relevant:t}of o){let n={offsets:Uint32Array.of(0,e.length),values:e};E.push({without:e.length>0?await v(`items that nobody is shown`,n):void 0,relevant:await v(`relevant items`,t),ranks:await _(`ranks`,new Uint32Array(t.values.length)),shown:await _(`shown items`,new Uint32Array(a.length))})}let D=e=>[`params`,...Array(e).fill(`read`),`write`],ee=await t.kernel(`scores`,Je(p),D(2)),O=await t.kernel(`left out`,Ye(p,!0),D(3)),te=await t.kernel(`left out for all`,Ye(p,!1),D(3)),ne=await t.kernel(`ranks`,Xe(p),D(4)),re=await t.kernel(`shown`,Ze(p),D(3));function ie(e,n){t.reserve(1);let r=t.params({first:e,last:n}),i=n-e,o=Math.ceil(i/64)*Math.ceil(a.length/64);t.run(ee,r,[b,x,w].map(K),o),T&&t.run(O,r,[y,T.offsets,T.values,w].map(K),i);for(let{without:e,relevant:n,ranks:a,shown:o}of E){if(e){let n=[y,e.offsets,e.values,w];t.run(te,r,n.map(K),i)}let{offsets:s,values:c}=n;t.run(ne,r,[y,s,c,w,a].map(K),i),t.run(re,r,[y,s,w,o].map(K),i)}}return{blockRows:h,views:E,scores:w,rankBlock:ie}}function it(e,t,n){let r=4*Math.ceil(n/4),i=new Float32Array(t.length*r);for(let a=0;a<t.length;a++){let o=t[a]*n;i.set(e.subarray(o,o+n),a*r)}return i}var $=256,at=e=>Math.min(256,Math.ceil(e/$)),ot=`
@group(0) @binding(0) var<storage, read> weights: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
var<workgroup> parts: array<f32, ${$}>;
@compute @workgroup_size(${$})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let share = (arrayLength(&weights) + groups.x - 1u) / groups.x;
  let end = min((group.x + 1u) * share, arrayLength(&weights));
  var total = 0.0;
  for (var i = group.x * share + local; i < end; i += ${$}u) { total += weights[i].x / weights[i].y; }
  parts[local] = total;
  workgroupBarrier();
  for (var half = ${$/2}u; half > 0u; half /= 2u) {
    if (local < half) { parts[local] += parts[local + half]; }
    workgroupBarrier();
  }
  if (local == 0u) { sums[group.x] = parts[0]; }
}
`,st=e=>`${S(e)}
@group(0) @binding(1) var<storage, read_write> weights: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> totals: array<vec4f>;
@compute @workgroup_size(${$})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let i = (group.y * groups.x + group.x) * ${$}u + local;
  if (i < params.last) { weights[i].y = weights[i].y / params.constant; }
  if (i < ${e}u) { totals[i] = totals[i] * params.constant; }
}
`,ct=1e-4;async function lt(e={}){let t=await v(e.flags),{device:n}=t,{tuning:c={},scoreBytes:l}=e,u=re(t,e.onKernelTime),d=Ke(t,u),{scratch:p,terms:m}=d,{inOrder:h,inPassing:g,idle:_}=f(()=>t.check());async function y(e){return(await h(e)).answer}let b=async(e,t,n)=>{if(t===0)return 0;let i=new Float32Array(await u.read(e,0,4*t)).reduce((e,t)=>e+t,0);if(!Number.isFinite(i))throw new r(`the ${n} became ${i}`);return i},x=()=>b(m.buffer,m.count,`edge term of the bound`);async function S(e,t){let n=t?x():Promise.resolve(void 0);return n.catch(()=>{}),await u.pace(e.edges),{answer:n}}async function C({totals:e,quads:t,features:n}){let i=new Float32Array(await u.read(e,0,3*t*16)),a=e=>Float64Array.from(i.subarray(4*t*e,4*t*e+n)),o=a(0),s=o.findIndex(e=>!Number.isFinite(e));if(s>=0)throw new r(`the mass of feature ${s} became ${o[s]}`);return{mass:o,leftover:a(1),leftoverAt:a(2)}}function w({totals:e,quads:t},r,i){let a=new Float32Array(4*t*i.length);for(let[e,n]of i.entries())a.set(n,4*t*e);return g(()=>{u.flush(),n.queue.writeBuffer(e,16*t*r,a)})}let T=t.subgroupSize>0?`subgroups of ${t.subgroupSize}`:`no subgroups`;return{name:`gpu`,description:`WebGPU on ${t.description} (float32, ${T}${t.software?`, software`:``})`,tolerance:ct,threads:1,createTable:(e,n,r)=>h(async()=>{let i=await pe(t,e,n);return await d.show(i,r),u.flush(),i}),write:(e,n,r)=>h(async()=>{let i=e;typeof n.weightShape==`number`?await d.fill(i,n):(u.flush(),await me(t,i,n)),await d.show(i,r)}),read:e=>h(()=>ve(u,e)),createIndex:e=>h(()=>Me(t,e,c)),update(e,n,r,a){let o=e,s=n,l=r,{hyper:u,activity:f,relaxation:p}=a,{first:m,last:h}=a.rows??{first:0,last:o.rows},g={first:m,last:h,hyper:u,activity:f,mass:a.otherMass?.slice(),relaxation:p,logNorm:i(1-u.sigma)};return y(async()=>{let e=await U(t,s,o.features,l.rows,c);return await d.edgePass(o,s,l,e,g,a.edgeTerm??!1),await d.rowPass(o,l,e,g),S(s,a.edgeTerm)})},createCounts:(e,n)=>h(()=>he(t,e,o(n))),count:(e,n,r,i,a={})=>y(async()=>{let o=e,s=n,l=r,u=a.rows??{first:0,last:o.rows},f=await U(t,s,o.features,l.rows,c);return await d.edgePass(o,s,l,f,u,a.edgeTerm??!1),await d.countPass(o,f,i,u),S(s,a.edgeTerm)}),finish(e,t,{hyper:n,activity:r,relaxation:a,otherMass:o,rows:s}){let c={...s??{first:0,last:e.rows},hyper:n,activity:r,relaxation:a,mass:o.slice(),logNorm:i(1-n.sigma)};return h(async()=>{await d.countedRowPass(e,t,c),await u.pace(0)})},readCounts:(e,t={first:0,last:e.rows})=>h(async()=>{let n=await ge(u,e,t),i=n.findIndex(e=>e<0n||e>=a);if(i>=0)throw new r(s(t.first+Math.floor(i/e.features),e));return n}),writeCounts:(e,n,r=0)=>h(async()=>{u.flush(),await _e(t,e,n,r)}),clearCounts:e=>h(()=>{u.clear(e.values)}),edgeTerm:(e,n,r)=>y(async()=>{let i=e,a=n,o=r,s=await U(t,a,i.features,o.rows,c);return await d.edgePass(i,a,o,s,{first:0,last:i.rows},!0),{answer:x()}}),rowTerms:(e,t)=>y(async()=>{let n=e,r=z(n.features,1),a=await u.kernel(`row terms`,Ae(r),[`params`,`read`,`read`,`read`,`write`]),o=Math.ceil(n.rows/r.rows),s=await p.grow(`row terms`,4*o);u.reserve(1);let c=t.shape*Math.log(t.rate)-i(t.shape),l=u.params({first:0,last:n.rows,hyper:t,constant:c});return u.run(a,l,[n.weights,n.shapes,n.rates,s].map(K),o),{answer:b(s,o,`bound over rows`)}}),totals:e=>y(async()=>({answer:C(e)})),weightSum:e=>y(async()=>{let{weights:t,rows:n}=e,r=at(n),i=await u.kernel(`weight sum`,ot,[`read`,`write`]),a=await p.grow(`weight sums`,1024);return u.run(i,0,[{buffer:t,size:8*n},{buffer:a}],r),{answer:b(a,r,`sum of the weights`)}}),scale:(e,t,n)=>h(async()=>{let r=e,{rows:i,quads:a,weights:o,totals:s}=r,c=await u.kernel(`scale`,st(a),[`params`,`write`,`write`]);u.reserve(1);let l=u.params({first:0,last:i,constant:t}),f=Math.ceil(Math.max(i,a)/256);u.run(c,l,[o,s].map(K),f),await d.refresh(r,{first:0,last:i,activity:n})}),setMass:(e,t)=>w(e,0,[t]),setLeftover:(e,t,n)=>w(e,1,[t,n]),setActivity:(e,t)=>h(async()=>{await d.refresh(e,{first:0,last:e.rows,activity:t})}),rank:(e,n,r,i)=>h(()=>$e(t,u,e,n,r,{scoreBytes:l,...i})),top:(e,n,r,i,a,o)=>h(()=>tt(t,u,e,n,r,i,a,{scoreBytes:l,...o})),free:e=>g(()=>{u.forget(),`weights`in e?ye(e):`values`in e?e.values.destroy():Pe(e)}),async close(){await _(),u.flush(),await n.queue.onSubmittedWorkDone().catch(()=>{}),t.close()}}}export{lt as createWebgpuEngine,y as webgpuAvailability};