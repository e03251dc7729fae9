// Ranks over MPI, called through koffi: a C interface without a compiler. Open MPI and MPICH (and libraries with its
// binary interface) have different handles; the loaded library reveals which one it is.

import { hostname } from 'node:os';
import { FitError, InputError } from '../errors.js';
import { createQueue } from '../math/queue.js';
import type { Addable, Communicator } from './communicator.js';

/** What a launcher writes into the environment of each process. */
interface Launched {
  readonly size: number;
  readonly by: keyof typeof RANK_OF;
}

/** Variables in which launchers store the number of processes, and the rank of each. (SLURM_NTASKS is also set without a launch.) */
const RANK_OF = {
  OMPI_COMM_WORLD_SIZE: 'OMPI_COMM_WORLD_RANK',
  PMI_SIZE: 'PMI_RANK',
  SLURM_STEP_NUM_TASKS: 'SLURM_PROCID',
} as const;
const SIZES = Object.keys(RANK_OF) as (keyof typeof RANK_OF)[];

/** The rank of this process; 0 if the launcher does not say. */
export function launchedRank({ by }: Launched): number {
  const rank = Number(process.env[RANK_OF[by]] ?? 0);
  return Number.isSafeInteger(rank) && rank > 0 ? rank : 0;
}

/** How many processes the launcher has started; undefined if there is no launcher or only one process. */
export function launchedRanks(environment: NodeJS.ProcessEnv = process.env): Launched | undefined {
  for (const by of SIZES) {
    const size = Number(environment[by]);
    if (Number.isSafeInteger(size) && size > 1) return { size, by };
  }
  return undefined;
}

/** Possible locations of the library, besides GRAPHEX_MPI_LIBRARY; the launcher's own first. */
function libraries(environment: NodeJS.ProcessEnv): string[] {
  const named = environment.GRAPHEX_MPI_LIBRARY;
  if (named) return [named];
  const open = ['libmpi.so.40', 'libmpi.40.dylib'];
  const mpich = ['libmpich.so.12', 'libmpi.so.12', 'libmpi.12.dylib'];
  const byOpenMpi = environment.OMPI_COMM_WORLD_SIZE !== undefined;
  const byPmi = environment.PMI_SIZE !== undefined && environment.PMIX_RANK === undefined;
  return [...(byPmi && !byOpenMpi ? [...mpich, ...open] : [...open, ...mpich]), 'libmpi.so'];
}

/**
 * UCX, a transport of MPICH and Open MPI, watches memory by overwriting code of libc while other threads run it. One
 * start in sixty ended with a corrupt heap. This variable turns that off, unless the user has set it.
 */
const UCX_WATCHES = 'UCX_MEM_EVENTS';

/** MPI_THREAD_SERIALIZED: koffi calls from its own threads, one at a time. */
const SERIALIZED = 2;
/** MPICH needs more than koffi's 128 KiB of stack for a call from such a thread. */
const STACK_BYTES = 2 << 20;
/** Counts are C ints, so larger messages are sent in pieces. */
const MOST_BYTES = 1 << 30;
/** Values added up at a time; libraries allocate a buffer of the same size. */
const MOST_ADDED = 1 << 22;
const TAG = 7;
/** How long an operation may wait for the other ranks, in seconds. */
const PATIENCE = 600;
/** How long an abort may take before this process ends itself. */
const ABORT_MS = 5000;

type Foreign = (...values: unknown[]) => number;
interface AsyncForeign extends Foreign {
  async(...values: unknown[]): void;
}
interface Library {
  symbol(name: string): unknown;
  func(declaration: string): AsyncForeign;
}
interface Koffi {
  config(): Record<string, unknown>;
  config(values: Record<string, unknown>): void;
  load(path: string, options: { global: boolean }): Library;
}

export async function openMpi(launched: Launched, environment = process.env): Promise<Communicator> {
  // UCX reads the variable when the library is loaded.
  environment[UCX_WATCHES] ??= 'n';
  const koffi = await loadKoffi();
  koffi.config({ ...koffi.config(), async_stack_size: STACK_BYTES });
  const { library, path } = loadLibrary(koffi, libraries(environment));
  const patience = patienceOf(environment);
  const { types, handles } = abiOf(library);
  const declare = (text: string) => library.func(text.replaceAll('HANDLE', types));
  const init = declare('int MPI_Init_thread(void *argc, void *argv, int required, _Out_ int *provided)');
  const provided = [0];
  check(init(null, null, SERIALIZED, provided), 'MPI_Init_thread');
  if (provided[0] < SERIALIZED) {
    throw new InputError(
      `${path}: this MPI allows calls only from the first thread; use one that was built with threads`,
    );
  }
  const ask = (name: string) => {
    const found = [0];
    check(declare(`int ${name}(HANDLE comm, _Out_ int *result)`)(handles.world, found), name);
    return found[0];
  };
  const [rank, size] = [ask('MPI_Comm_rank'), ask('MPI_Comm_size')];
  if (size !== launched.size) {
    throw new InputError(
      `${launched.by} says that ${launched.size} processes were started, but ${path} knows of ${size}: the launcher belongs to ` +
        'another MPI. Start graphex with the launcher of this library, or name the launcher’s library with GRAPHEX_MPI_LIBRARY',
    );
  }
  const host = hostname();
  const me = `rank ${rank} on ${host}`;
  const calls = {
    sum: declare(
      'int MPI_Allreduce(intptr_t place, void *values, int n, HANDLE type, HANDLE op, HANDLE comm)',
    ),
    send: declare('int MPI_Send(void *from, int n, HANDLE type, int to, int tag, HANDLE comm)'),
    receive: declare(
      'int MPI_Recv(void *to, int n, HANDLE type, int from, int tag, HANDLE comm, void *status)',
    ),
    abort: declare('int MPI_Abort(HANDLE comm, int status)'),
    finalize: declare('int MPI_Finalize()'),
  };
  // Calls run one after another: MPI was promised that, and ranks must call in the same order.
  const { inOrder } = createQueue();

  /**
   * Calls MPI on another thread, with a time limit, because a call never ends if the network is cut. Holds `values` until
   * the call ends: koffi does not, and MPI would write to memory that was garbage-collected.
   */
  function call(name: string, foreign: AsyncForeign, ...values: unknown[]): Promise<void> {
    const held = new Set([values]);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(
          new FitError(
            `${me}: no answer from the other ranks for ${patience} s; a host or the network may be gone (GRAPHEX_MPI_PATIENCE sets the seconds)`,
          ),
        );
      }, 1000 * patience);
      foreign.async(...values, (error: unknown, status: number) => {
        clearTimeout(timer);
        held.clear();
        if (error) reject(error);
        else if (status !== 0) reject(new FitError(`${me}: ${name} failed with MPI error ${status}`));
        else resolve();
      });
    });
  }

  return {
    rank,
    size,
    host,
    description: `${size} ranks of ${libraryName(declare)}`,
    sum: (values: Addable) =>
      inOrder(async () => {
        if (values.length === 0) return;
        const type = values instanceof Float64Array ? handles.double : handles.int64;
        const { inPlace, sum, world } = handles;
        for (let at = 0; at < values.length; at += MOST_ADDED) {
          const piece = values.subarray(at, at + MOST_ADDED);
          await call('MPI_Allreduce', calls.sum, inPlace, piece, piece.length, type, sum, world);
        }
      }),
    transfer: (bytes, from, to) =>
      inOrder(async () => {
        if (from === to || (rank !== from && rank !== to)) return;
        const { byte, world } = handles;
        const status = new Uint8Array(64);
        for (let at = 0; at < bytes.length; at += MOST_BYTES) {
          const piece = bytes.subarray(at, at + MOST_BYTES);
          await (rank === from
            ? call('MPI_Send', calls.send, piece, piece.length, byte, to, TAG, world)
            : call('MPI_Recv', calls.receive, piece, piece.length, byte, from, TAG, world, status));
        }
      }),
    abort(status) {
      // On another thread: a call may hold the library's lock forever.
      calls.abort.async(handles.world, status, () => process.exit(status));
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), ABORT_MS);
    },
    close: () => inOrder(() => call('MPI_Finalize', calls.finalize)),
  };
}

async function loadKoffi(): Promise<Koffi> {
  const name = 'koffi'; // not a literal: the package is optional
  try {
    const loaded = (await import(name)) as { default?: Koffi };
    return loaded.default ?? (loaded as unknown as Koffi);
  } catch (cause) {
    throw new InputError(
      'several processes were started, but the package koffi, which calls MPI, is not installed; npm install koffi',
      { cause },
    );
  }
}

function loadLibrary(koffi: Koffi, paths: readonly string[]): { library: Library; path: string } {
  for (const path of paths) {
    try {
      // Global, because the library loads components that refer to its symbols.
      return { library: koffi.load(path, { global: true }), path };
    } catch {
      // Try the next path.
    }
  }
  throw new InputError(
    `several processes were started, but no MPI library is found (${paths.join(', ')}); install Open MPI or MPICH, load its module, or name the file with GRAPHEX_MPI_LIBRARY`,
  );
}

/** Handles are pointers to symbols in Open MPI, and fixed numbers in MPICH; MPI_IN_PLACE is an invalid pointer in both. */
function abiOf(library: Library): { types: string; handles: Record<string, unknown> } {
  try {
    const symbol = (name: string) => library.symbol(`ompi_mpi_${name}`);
    return {
      types: 'void *',
      handles: {
        world: symbol('comm_world'),
        double: symbol('double'),
        int64: symbol('int64_t'),
        byte: symbol('byte'),
        sum: symbol('op_sum'),
        inPlace: 1,
      },
    };
  } catch {
    return {
      types: 'int',
      handles: {
        world: 0x44000000,
        double: 0x4c00080b,
        int64: 0x4c00083a,
        byte: 0x4c00010d,
        sum: 0x58000003,
        inPlace: -1,
      },
    };
  }
}

/** The library's name and version, such as 'Open MPI v4.1.4'. */
function libraryName(declare: (text: string) => Foreign): string {
  const text = new Uint8Array(8192);
  const length = [0];
  check(
    declare('int MPI_Get_library_version(void *text, _Out_ int *length)')(text, length),
    'MPI_Get_library_version',
  );
  const [first] = new TextDecoder().decode(text.subarray(0, length[0])).split(/[\n,]/);
  return first.replace(/\0.*$/s, '').replace(/\s+/g, ' ').replace(' Version: ', ' ').trim();
}

function patienceOf(environment: NodeJS.ProcessEnv): number {
  const given = environment.GRAPHEX_MPI_PATIENCE;
  if (given === undefined) return PATIENCE;
  const seconds = Number(given);
  if (seconds > 0 && seconds <= 1e6) return seconds;
  throw new InputError(`GRAPHEX_MPI_PATIENCE ${given}: expected seconds, above 0 and at most 1000000`);
}

function check(status: number, name: string): void {
  if (status !== 0) throw new FitError(`${name} failed with MPI error ${status}`);
}
