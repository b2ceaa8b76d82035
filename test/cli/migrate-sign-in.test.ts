import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as consume from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountOn, contents, fill, read } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startMailProvider, type MailProviderServer } from '../servers/mail-provider.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { PROGRAM, SURROUNDINGS } from './command.ts'

describe('portreeve migrate with a sign-in at a provider', () => {
  let provider: MailProviderServer
  let server: MailServer
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portreeve-cli-'))
    provider = await startMailProvider('http://127.0.0.1/')
    server = await startDovecot({ introspectAt: provider.introspectionUrl })
    for (const user of ['alice', 'one', 'two']) await server.addUser(user, 'secret')
    await fill(accountOn(server.port), { INBOX: [{}, {}, {}] })
  })
  afterAll(async () => {
    await Promise.all([server.stop(), provider.stop()])
    rmSync(folder, { recursive: true })
  })

  async function run(
    user: string,
    settings: object,
    answer: (line: string) => Promise<void>,
    args: string[] = [],
  ) {
    const urlOf = (name: string) => `imap://${name}@127.0.0.1:${server.port}`
    const words = ['migrate', '--source', urlOf('alice'), '--destination', urlOf(user), '--all']
    const child = spawn(
      process.execPath,
      [PROGRAM, ...words, '--source-sign-in', 'other', '--state', folder, ...args],
      {
        cwd: folder,
        env: {
          ...SURROUNDINGS,
          PORTREEVE_DESTINATION_PASSWORD: 'secret',
          ...provider.settings,
          ...settings,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const lines: string[] = []
    const answered: Promise<void>[] = []
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      answered.push(answer(line))
    })
    const [out, [code]] = await Promise.all([consume.text(child.stdout), once(child, 'exit')])
    await Promise.all(answered)
    return { out, err: lines.join('\n'), code: code as number }
  }

  const expectCopied = async (user: string) => {
    const [here, there] = await Promise.all(
      ['alice', user].map((name) => read(accountOn(server.port, name))),
    )
    expect(contents(there?.['INBOX'])).toEqual(contents(here?.['INBOX']))
  }

  it('shows a code to enter on any device', async () => {
    const { err, code } = await run('one', {}, async (line) => {
      const userCode = /enter the code (\S+)\.$/.exec(line)?.[1]
      if (userCode) await provider.enterCode(userCode)
    })
    expect([code, err]).toEqual([0, expect.stringContaining('To sign in as alice, open http')])
    await expectCopied('one')
  }, 40_000)

  it('shows an address to open in a browser where the provider has no codes', async () => {
    const settings = {
      OAUTH_OTHER_AUTHORIZATION_URL: `${provider.issuer}/auth`,
      OAUTH_OTHER_TOKEN_URL: `${provider.issuer}/token`,
    }
    const { err, code } = await run('two', settings, async (line) => {
      if (line.startsWith(`${provider.issuer}/auth?`)) await provider.signIn(line)
    })
    expect([code, err]).toEqual([0, expect.stringContaining('in a browser on this machine')])
    await expectCopied('two')
  }, 40_000)

  it('refuses servers of others, and providers that are not set up', async () => {
    const elsewhere = await run('one', { OAUTH_OTHER_HOSTS: 'imap.example.com' }, async () => {})
    expect([elsewhere.code, elsewhere.err]).toEqual([
      2,
      expect.stringContaining('is for its servers only: imap.example.com'),
    ])
    const unknown = await run('one', {}, async () => {}, ['--destination-sign-in', 'google'])
    expect(unknown.code).toBe(2)
  }, 40_000)
})
