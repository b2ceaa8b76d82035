import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SETTINGS } from '../../src/config.ts'
import { stagesOf } from './dockerfile.ts'

const PINNED_IMAGE = /^[a-z]+:[\w.]+-[\w-]+@sha256:[0-9a-f]{64}$/

const read = (file: string) => readFileSync(join('deploy', file), 'utf8')

describe('the Dockerfile', () => {
  const stages = stagesOf(read('Dockerfile'))
  const last = stages.at(-1)
  const of = (keyword: string) =>
    (last?.instructions ?? []).flatMap(([name, rest]) => (name === keyword ? [rest] : []))

  it('pins the version and the digest of each base image', () => {
    const images = stages.map(({ from }) => from)
    expect(images.pop()).toBe('scratch')
    expect(images.filter((image) => !PINNED_IMAGE.test(image))).toEqual([])
    expect(new Set(images).size).toBe(1)
  })
  it('has the version of Node.js that the tests run with', () => {
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      devDependencies: { node: string }
    }
    for (const { from } of stages.slice(0, -1))
      expect(from).toContain(`node:${devDependencies.node}-`)
  })
  it('runs unprivileged, with a health check, and stops on SIGTERM', () => {
    expect(of('USER')).toEqual(['10001:10001'])
    expect(of('HEALTHCHECK')[0]).toContain('CMD ["portreeve", "health"]')
    expect(of('CMD')).toEqual(['["portreeve", "serve"]'])
    expect(last?.instructions.at(-1)?.[0]).toBe('CMD')
  })
  it('copies only existing files of the build context', () => {
    const copied = stages.flatMap(({ instructions }) =>
      instructions.flatMap(([name, rest]) =>
        name === 'COPY' && !rest.startsWith('--from') ? rest.split(' ').slice(0, -1) : [],
      ),
    )
    expect(copied).toContain('.')
    for (const path of copied) expect(existsSync(path), path).toBe(true)
  })
  it('installs from the lockfile and nothing by its newest name', () => {
    const runs = stages.flatMap((stage) => stage.runs).join('\n')
    expect(runs).not.toMatch(/npm install [^-]|:latest|curl|wget/)
  })
  it('publishes no metrics, also with the network of the host', () => {
    expect(of('ENV').join(' ')).toContain('METRICS_LISTEN=127.0.0.1:')
  })
  it('sets only settings that there are', () => {
    const names = [
      ...of('ENV')
        .join(' ')
        .matchAll(/([A-Z_]+)=/g),
    ].map(([, name]) => name as string)
    expect(
      names.filter(
        (name) => !['NODE_ENV', 'PATH'].includes(name) && !Object.hasOwn(SETTINGS, name),
      ),
    ).toEqual([])
  })
})

describe('compose.yaml', () => {
  const compose = read('compose.yaml')
  it('needs no variable', () => {
    expect(compose).not.toMatch(/\$\{\w+:?\?/)
  })
  it('uses only variables that the example contains, which otherwise has settings alone', () => {
    const asked = [...compose.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name as string)
    const example = [...read('compose.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(
      ([, name]) => name as string,
    )
    expect(example).toEqual(expect.arrayContaining(asked))
    expect(
      example.filter((name) => !asked.includes(name) && !Object.hasOwn(SETTINGS, name)),
    ).toEqual(['COMPOSE_PROFILES'])
  })
  it('passes every setting on, and sets only some that there are', () => {
    const service = /\n {2}portreeve:\n(.*?)\n\n/s.exec(compose)?.[1] ?? ''
    expect(service).toContain('env_file: [{ path: .env, required: false }]')
    const names = [...service.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name]) => name as string)
    expect(names.length).toBeGreaterThan(2)
    expect(names.filter((name) => !Object.hasOwn(SETTINGS, name))).toEqual([])
  })
  it('mounts only files that exist', () => {
    for (const [, file = ''] of compose.matchAll(/'\.\/([\w.]+):/g))
      expect(existsSync(join('deploy', file)), file).toBe(true)
  })
  it('builds its own images, and pins the digest of each other one', () => {
    const services = compose.slice(compose.indexOf('services:'), compose.indexOf('\nvolumes:'))
    const named = [...services.matchAll(/^ {4}image: (\S+)\n(?: {4}build: (.*))?/gm)]
    expect(named).toHaveLength(4)
    for (const [, image = '', build] of named) if (!build) expect(image).toMatch(PINNED_IMAGE)
  })
  it('installs nothing when a container starts', () => {
    expect(compose).not.toMatch(/apt-get|apk add|npm install|curl|wget/)
    const [stage] = stagesOf(read('unbound/Dockerfile'))
    expect(stage?.from).toMatch(PINNED_IMAGE)
    expect(stage?.runs.join()).toContain('apt-get install')
  })
  it('has a configuration that Unbound accepts', () => {
    execFileSync('/usr/sbin/unbound-checkconf', ['deploy/unbound/unbound.conf'], { stdio: 'pipe' })
  })
})

describe('the systemd unit', () => {
  it('is taken by systemd, and shuts nearly everything that it does not need', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-unit-'))
    const unit = join(folder, 'portreeve.service')
    writeFileSync(unit, read('systemd/portreeve.service'))
    try {
      execFileSync('/usr/bin/systemd-analyze', ['verify', '--man=no', unit], { stdio: 'pipe' })
      const rated = execFileSync(
        '/usr/bin/systemd-analyze',
        ['security', '--offline=true', '--threshold=20', unit],
        {
          encoding: 'utf8',
        },
      )
      expect(rated).toMatch(/Overall exposure level for portreeve.service: [01]\.\d OK/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
  it('sets only settings that there are', () => {
    const [, set = ''] = /^Environment=(.*)$/m.exec(read('systemd/portreeve.service')) ?? []
    const names = [...set.matchAll(/([A-Z_]+)=/g)].map(([, name]) => name as string)
    expect(names.filter((name) => name !== 'NODE_ENV' && !Object.hasOwn(SETTINGS, name))).toEqual(
      [],
    )
  })
})
