// The examples of deploy/ match the server: they name paths, ports, flags and files that exist.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { SERVE } from '../../src/options/commands/serve.js';
import { COMMANDS } from '../../src/options/commands.js';
import { listOptions } from '../../src/options/option-list.js';
import { LIMITS } from '../../src/serve/limits.js';
import { type RunningServer, serve } from '../../src/serve/serve.js';

const root = join(import.meta.dirname, '../..');
const FLAGS = new Set(
  [...listOptions(COMMANDS.serve.options), ...listOptions(COMMANDS.serve.common)].flatMap(({ flag, off }) => [
    ...(flag?.split(', ') ?? []),
    ...(off === undefined ? [] : [off]),
  ]),
);

let server: RunningServer;
beforeAll(async () => {
  server = await serve(undefined, { port: 0 });
});
afterAll(() => server?.close());

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly containerPort: number }[];
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: number };
}

describe('deploy/kubernetes.yaml', () => {
  const documents = parseAllDocuments(readFileSync(join(root, 'deploy/kubernetes.yaml'), 'utf8'), {
    strict: true,
    uniqueKeys: true,
  });
  const [deployment, service] = documents.map((document) => document.toJS());
  const { spec: pod, metadata } = deployment.spec.template;
  const container: Container = pod.containers[0];

  it('is YAML of a Deployment and a Service for the same pods', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    expect([deployment.apiVersion, deployment.kind]).toEqual(['apps/v1', 'Deployment']);
    expect([service.apiVersion, service.kind]).toEqual(['v1', 'Service']);
    expect(deployment.spec.selector.matchLabels).toEqual(metadata.labels);
    expect(service.spec.selector).toEqual(metadata.labels);
  });

  it('has one port throughout, the default port of the server', () => {
    const ports = [
      ...container.ports.map(({ containerPort }) => containerPort),
      container.readinessProbe.httpGet.port,
      container.livenessProbe.httpGet.port,
      service.spec.ports[0].targetPort,
    ];
    expect(new Set(ports)).toEqual(new Set([SERVE.port.default]));
  });

  it('probes paths that answer', async () => {
    for (const { httpGet } of [container.readinessProbe, container.livenessProbe]) {
      expect((await fetch(server.url + httpGet.path)).status).toBe(200);
    }
  });

  it('uses existing flags, and files that are mounted', () => {
    const [command, ...rest] = container.args;
    expect(command).toBe('serve');
    const unknown = rest.filter((argument) => argument.startsWith('-') && !FLAGS.has(argument));
    expect(unknown).toEqual([]);
    const mounted = container.volumeMounts.map(({ mountPath }) => mountPath);
    const strange = rest.filter((argument) => argument.startsWith('/') && !mounted.includes(argument));
    expect(strange.filter((path) => !mounted.includes(dirname(path)))).toEqual([]);
    const volumes = pod.volumes.map(({ name }: { name: string }) => name);
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(volumes.sort());
  });

  it('lets open requests end, and gives the pod no further rights', () => {
    expect(1000 * pod.terminationGracePeriodSeconds).toBeGreaterThan(LIMITS.drain);
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
  });
});

describe('deploy/Dockerfile', () => {
  const lines = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, word, rest] = /^([A-Z]+) (.*)$/.exec(line) as RegExpExecArray;
      return { word, rest };
    });
  const of = (word: string) => lines.filter((line) => line.word === word).map(({ rest }) => rest);
  const copied = of('COPY')
    .filter((rest) => !rest.startsWith('--from'))
    .flatMap((rest) => rest.split(' ').slice(0, -1));

  it('uses only instructions of a Dockerfile, and copies existing files', () => {
    const known = 'FROM WORKDIR COPY RUN ENV USER EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD'.split(' ');
    expect(lines.map(({ word }) => word).filter((word) => !known.includes(word))).toEqual([]);
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(of('USER')).toEqual(['node']);
  });

  it('uses a supported Node, the server’s port and a health path that answers', async () => {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const least = Number(/\d+/.exec(engines.node)?.[0]);
    for (const from of of('FROM'))
      expect(Number(/^node:(\d+)/.exec(from)?.[1])).toBeGreaterThanOrEqual(least);
    expect(of('EXPOSE')).toEqual([String(SERVE.port.default)]);
    const [health] = of('HEALTHCHECK');
    const url = new URL(/http:[^']*/.exec(health)?.[0] ?? '');
    expect(Number(url.port)).toBe(SERVE.port.default);
    expect((await fetch(server.url + url.pathname)).status).toBe(200);
  });

  const slow = it.runIf(process.env.GRAPHEX_LONG);
  slow(
    'builds and starts from nothing but what it copies',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'graphex-image-'));
      try {
        for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
        // In the place of npm ci.
        symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
        const run = (program: string, ...rest: string[]) =>
          execFileSync(program, rest, {
            cwd: folder,
            encoding: 'utf8',
            stdio: ['ignore', 'pipe', 'inherit'],
          });
        run('npm', 'run', 'build');
        const [entry] = of('ENTRYPOINT').map((rest) => JSON.parse(rest) as string[]);
        const program = entry[1].replace('/app/', '');
        expect(run(process.execPath, program, 'serve', '--help')).toContain('--key-file');
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    120_000,
  );
});
