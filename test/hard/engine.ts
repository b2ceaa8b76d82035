import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What the tests of containers need of Debian, besides root. */
const NEEDED = 'docker.io iptables mmdebstrap qemu-user-static arch-test'
const PROGRAMS = ['docker', 'mmdebstrap', 'qemu-aarch64-static', 'arch-test']
  .map((name) => `/usr/bin/${name}`)
  .concat('/usr/sbin/dockerd')

/** The base images that registries have, which are built from Debian’s packages here. */
const NODE_IMAGE = 'node:24.21.0-bookworm-slim'
const CACHE = '/var/cache/portreeve/container'
const MINUTE_MS = 60_000

/** A Docker of its own, with the base images of deploy/. */
export type Engine = {
  folder: string
  /** Runs `docker`, and returns what it printed. @throws Error with its output */
  docker(args: string[], options?: { input?: string; minutes?: number }): Promise<string>
  /** Runs `docker compose` in a folder. */
  compose(folder: string, args: string[], env?: Record<string, string>): Promise<string>
  /** Builds an image with a Dockerfile of a checkout, without the digests of its base images. */
  build(
    checkout: string,
    tag: string,
    options?: { from?: string; platform?: string },
  ): Promise<void>
  /** Makes a base image that a registry has. */
  makeBase(tag: string, architecture: 'amd64' | 'arm64', node: string | null): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a Docker daemon in a temporary folder. It leaves the machine’s network alone: containers
 * reach each other, and this machine by its own addresses.
 */
export async function startEngine(): Promise<Engine> {
  if (process.getuid?.() !== 0 || !PROGRAMS.every(existsSync))
    throw new Error(`It needs root and: apt-get install --no-install-recommends ${NEEDED}`)
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-engine-'))
  const host = `unix://${folder}/docker.sock`
  const args = ['--data-root', `${folder}/data`, '--exec-root', `${folder}/exec`, '-H', host]
  const quiet = ['--pidfile', `${folder}/pid`, '--bridge', 'none', '--iptables=false']
  const daemon = spawn('/usr/sbin/dockerd', [...args, ...quiet], { stdio: 'ignore' })
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DOCKER_HOST: host, DOCKER_BUILDKIT: '1' }

  async function execute(program: string, words: string[], minutes: number, more = {}, input = '') {
    const options = { env: { ...env, ...more }, timeout: minutes * MINUTE_MS, maxBuffer: 1 << 28 }
    const running = run(program, words, options)
    // A command that ends early reads nothing, and its failure says why.
    running.child.stdin?.on('error', () => {}).end(input)
    const { stdout, stderr } = await running
    // A container writes its log to one, and what is for people to the other.
    return words.includes('logs') ? stdout + stderr : stdout
  }
  const docker: Engine['docker'] = (words, { input = '', minutes = 2 } = {}) =>
    execute('/usr/bin/docker', words, minutes, {}, input)
  for (let tries = 0; !(await docker(['info']).catch(() => null)); tries++) {
    if (tries > 100) throw new Error('dockerd does not start')
    await sleep(200)
  }

  return {
    folder,
    docker,
    async compose(place, words, more = {}) {
      return execute(await composeProgram(), ['--project-directory', place, ...words], 5, more)
    },
    async build(checkout, tag, { from = NODE_IMAGE, platform = 'linux/amd64' } = {}) {
      const dockerfile = join(folder, 'Dockerfile')
      const original = readFileSync(join(checkout, 'deploy/Dockerfile'), 'utf8')
      const text = original
        .replaceAll(/@sha256:\w+/g, '')
        .replaceAll(/node:24[.\d]+-bookworm-slim/g, NODE_IMAGE)
        .replaceAll(`FROM ${NODE_IMAGE}`, `FROM ${from}`)
      writeFileSync(dockerfile, text)
      copyFileSync(join(checkout, 'deploy/Dockerfile.dockerignore'), `${dockerfile}.dockerignore`)
      const how = ['--network', 'host', '--platform', platform, '--tag', tag]
      await docker(['build', ...how, '--file', dockerfile, checkout], { minutes: 20 })
    },
    async makeBase(tag, architecture, node) {
      const context = mkdtempSync(join(folder, 'base-'))
      copyFileSync(await debian(architecture), join(context, 'base.tar'))
      copyFileSync('/etc/ssl/certs/ca-certificates.crt', join(context, 'authorities.crt'))
      const lines = [
        'FROM scratch',
        'ADD base.tar /',
        'COPY authorities.crt /etc/ssl/certs/ca-certificates.crt',
        'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt',
        'ENV NPM_CONFIG_CAFILE=/etc/ssl/certs/ca-certificates.crt',
      ]
      if (node) {
        copyFileSync(node, join(context, 'node'))
        const npm = dirname(dirname(realpathSync((await run('which', ['npm'])).stdout.trim())))
        cpSync(npm, join(context, 'npm/npm'), { recursive: true })
        lines.push('COPY --chmod=755 node /usr/local/bin/node', 'COPY npm /usr/local/lib')
        lines.push('RUN ln -s /usr/local/lib/npm/bin/npm-cli.js /usr/local/bin/npm')
      }
      writeFileSync(join(context, 'Dockerfile'), lines.join('\n'))
      const platform = ['--network', 'host', '--platform', `linux/${architecture}`]
      await docker(['build', ...platform, '--tag', tag, context], { minutes: 5 })
      rmSync(context, { recursive: true })
    },
    async stop() {
      daemon.kill()
      await once(daemon, 'exit')
      // The network namespace of the machine, which Docker leaves mounted.
      for (const [, place = ''] of readFileSync('/proc/mounts', 'utf8').matchAll(/^\S+ (\S+)/gm))
        if (place.startsWith(`${folder}/`)) await run('umount', [place])
      // Some 100,000 files, for which Node takes minutes.
      await run('rm', ['-rf', folder])
    },
  }
}

/** A small Debian 12, made once. @returns its archive */
async function debian(architecture: string): Promise<string> {
  const archive = join(CACHE, `bookworm-${architecture}.tar`)
  if (existsSync(archive)) return archive
  mkdirSync(CACHE, { recursive: true })
  const half = `${archive}.${process.pid}.tar`
  const leftOut = ['doc', 'man', 'locale'].map((name) => `path-exclude=/usr/share/${name}/*`)
  const options = ['--variant=minbase', `--architectures=${architecture}`]
  const slim = leftOut.map((text) => `--dpkgopt=${text}`)
  // Emulated, it takes ten minutes on a busy machine.
  await run('mmdebstrap', [...options, '--include=libstdc++6', ...slim, 'bookworm', half], {
    timeout: 20 * MINUTE_MS,
  })
  renameSync(half, archive)
  return archive
}

/** Docker Compose 2 of Debian 13, because Debian 12 has only version 1. */
async function composeProgram(): Promise<string> {
  const program = join(CACHE, 'compose/usr/libexec/docker/cli-plugins/docker-compose')
  if (existsSync(program)) return program
  const folder = join(CACHE, 'compose')
  mkdirSync(join(folder, 'lists'), { recursive: true })
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg'
  writeFileSync(
    join(folder, 'sources.list'),
    `deb [signed-by=${key}] http://deb.debian.org/debian trixie main\n`,
  )
  const settings = [
    `Dir::Etc::sourcelist=${folder}/sources.list`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${folder}/lists`,
    `Dir::Cache=${folder}`,
    'APT::Sandbox::User=root',
  ].flatMap((setting) => ['-o', setting])
  const options = { cwd: folder, timeout: 5 * MINUTE_MS }
  await run('apt-get', [...settings, 'update'], options)
  await run('apt-get', [...settings, 'download', 'docker-compose'], options)
  await run('sh', ['-c', 'dpkg-deb -x docker-compose_*.deb .'], options)
  return program
}
