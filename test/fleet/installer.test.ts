import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { installerScript } from '../../src/fleet/installer/installer.ts'
import { installerRoutes } from '../../src/fleet/installer/installer-routes.ts'
import { createServer } from '../../src/http/http-server.ts'
import { createLog } from '../../src/log.ts'
import { ROOT } from '../../src/version.ts'
import { requirePackages } from '../servers/machine.ts'

const REPORTS = 'https://reports.portreeve.test'
const TOKEN = `ar_${'aB3'.repeat(10)}zz`
const app = await createServer({
  log: createLog('silent', new Writable({ write: (_chunk, _encoding, done) => done() })),
  version: '0.0.0',
  trustedProxies: [],
  isUnavailable: () => false,
  isReady: async () => true,
})
installerRoutes(app, { reportsUrl: REPORTS })
afterAll(() => app.close())

const ask = (query = '') => app.inject({ url: `/api/v1/abuse/fail2ban-install${query}` })

describe('GET /api/v1/abuse/fail2ban-install', () => {
  it('is an uncached shell script, without authentication', async () => {
    const response = await ask()
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      'content-type': 'text/x-shellscript; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    expect(response.body).toMatch(/^#!\/bin\/sh\n/)
    expect(response.body).toMatch(/\n\{ main "\$@"; \}\n$/)
  })

  it('configures the requested service, token and list', async () => {
    const { body } = await ask(`?token=${TOKEN}&block=1&block_service=sshd`)
    expect(body).toContain(`\nTOKEN='${TOKEN}'\n`)
    expect(body).toContain('\nBLOCK=1\n')
    expect(body).toContain(`\nBLOCKLIST_URL='${REPORTS}/api/v1/abuse/export?service=ssh'\n`)
    expect(body).toContain(`\nurl = ${REPORTS}/api/v1/abuse/report\n`)
    expect(body).not.toContain('example.com')
  })

  it('installs the blocklist consumer only on request', async () => {
    for (const query of ['', '?block=0', '?block_service=ssh']) {
      const { body } = await ask(query)
      expect(body).toContain('\nBLOCK=0\n')
      expect(body).not.toContain('#!/usr/bin/python3')
    }
  })

  it.each([
    'token=',
    'token=ar_short',
    `token=${TOKEN}x`,
    `token=${TOKEN}%0A`,
    `token=${TOKEN}'`,
    `token=${TOKEN}&token=${TOKEN}`,
    "token='%3Bid%3B'",
    'token=ar_%24%28touch%20%2Ftmp%2Fowned%29aaaaaaaaaaaa',
    'block=',
    'block=2',
    'block=true',
    'block=1%3Bid',
    'block=01',
    'block=0&block=1',
    'block=1&block=1',
    'block_service=',
    'block_service=nothing-like-it',
    'block_service=ssh%0Aid',
    "block_service=ssh'%3Bid%3B'",
    'block_service=__proto__',
    'block_service=constructor',
    'block_service=ssh&block_service=http',
  ])('answers 400 and no script to %s', async (query) => {
    const response = await ask(`?${query}`)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ success: false, code: 'invalid_request' })
    expect(response.headers['content-type']).toContain('application/json')
    expect(response.body).not.toContain('#!/bin/sh')
  })
})

describe('GET /api/v1/abuse/fail2ban-config', () => {
  it('is one text with action, jails and helper under their paths', async () => {
    const response = await app.inject({ url: '/api/v1/abuse/fail2ban-config' })
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe('text/plain; charset=utf-8')
    const paths = [...response.body.matchAll(/^# (\/.*)$/gm)].map(([, path]) => path)
    expect(paths).toEqual([
      '/etc/fail2ban/action.d/portreeve.conf',
      '/etc/fail2ban/jail.d/zz-portreeve.local',
      '/usr/local/sbin/portreeve-report (chmod 755)',
    ])
    expect(response.body).toContain(`\nurl = ${REPORTS}/api/v1/abuse/report\n`)
    expect(response.body).toContain('%(known/action)s')
  })
})

describe('an installer', () => {
  it.each([{ block: false }, { block: true }, { block: true, token: TOKEN, blockService: 'ssh' }])(
    'has nothing that shellcheck, dash or bash complain about: %o',
    (choice) => {
      requirePackages('shellcheck')
      const input = installerScript(REPORTS, choice)
      const check = (program: string, ...args: string[]) =>
        spawnSync(program, args, { input, encoding: 'utf8' })
      expect(check('shellcheck', '-s', 'sh', '-')).toMatchObject({ status: 0, stdout: '' })
      expect(check('dash', '-n')).toMatchObject({ status: 0, stderr: '' })
      expect(check('bash', '--posix', '-n')).toMatchObject({ status: 0, stderr: '' })
    },
  )

  it('brings a helper that shellcheck has nothing against either', () => {
    const { stdout } = spawnSync('shellcheck', [join(ROOT, 'clients/fail2ban/portreeve-report')], {
      encoding: 'utf8',
    })
    expect(stdout).toBe('')
  })

  it('is never built from text that a shell could split or expand', () => {
    for (const origin of [
      "http://a'b",
      'http://a"b',
      'http://$(id)',
      'http://a b',
      'http://a\nb',
      'http://a%b',
    ])
      expect(() => installerScript(origin, { block: false })).toThrow('not allowed in an installer')
    expect(() => installerScript(REPORTS, { block: true, blockService: "x'" })).toThrow(
      'not allowed in an installer',
    )
    expect(() => installerScript(REPORTS, { block: false, token: '`id`' })).toThrow(
      'not allowed in an installer',
    )
  })
})
