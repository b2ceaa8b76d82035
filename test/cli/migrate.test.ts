import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as consume from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { accountOn, contents, fill, mail, read } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy } from '../servers/proxy.ts'
import { PROGRAM, runInProcess, SURROUNDINGS } from './command.ts'

const PASSWORDS = { PORTREEVE_SOURCE_PASSWORD: 'secret', PORTREEVE_DESTINATION_PASSWORD: 'secret' }

describe('portreeve migrate', () => {
  let from: MailServer
  let to: MailServer
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portreeve-cli-'))
    ;[from, to] = await Promise.all([startDovecot(), startDovecot()])
    await from.addUser('alice', 'secret')
    const letters = Array.from({ length: 150 }, (_, n) => ({
      body: mail(n === 7 ? 3_000_000 : 8_000),
      flags: ['\\Seen'],
    }))
    await fill(accountOn(from.port), { INBOX: letters, 'Sent/2024': [{}] })
    for (const user of ['one', 'two', 'three', 'four', 'five']) await to.addUser(user, 'secret')
    for (const [user, letter] of [
      ['small', [{}, {}]],
      ['small2', [{}]],
    ] as const) {
      await from.addUser(user, 'secret')
      await fill(accountOn(from.port, user), { INBOX: [...letter] })
    }
  })
  afterAll(async () => {
    await Promise.all([from.stop(), to.stop()])
    rmSync(folder, { recursive: true })
  })

  const argumentsOf = (user: string, args: string[], port = to.port) => [
    'migrate',
    '--source',
    `imap://alice@localhost:${from.port}`,
    '--destination',
    `imap://${user}@localhost:${port}`,
    '--state',
    folder,
    ...args,
  ]
  /** Starts the program, which can get signals. */
  function start(user: string, args: string[], port?: number) {
    const child = spawn(process.execPath, [PROGRAM, ...argumentsOf(user, args, port)], {
      cwd: folder,
      env: { ...SURROUNDINGS, ...PASSWORDS },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const texts = Promise.all([
      consume.text(child.stdout),
      consume.text(child.stderr),
      once(child, 'exit'),
    ])
    return { child, done: texts.then(([out, err, [code]]) => ({ out, err, code: code as number })) }
  }
  const run = (
    user: string,
    args: string[],
    { env = PASSWORDS, port }: { env?: Record<string, string>; port?: number } = {},
  ) => runInProcess(argumentsOf(user, args, port), env, { cwd: folder })

  it('keeps mailboxes in sync with --every until Ctrl-C', async () => {
    await from.addUser('standing', 'secret')
    await to.addUser('standing', 'secret')
    await fill(accountOn(from.port, 'standing'), { INBOX: [{}, {}] })
    const url = (port: number) => `imap://standing@localhost:${port}`
    const sides = ['--source', url(from.port), '--destination', url(to.port)]
    const args = [...sides, '--state', folder, '--all', '--every', '5s', '--json']
    const child = spawn(process.execPath, [PROGRAM, 'migrate', ...args], {
      cwd: folder,
      env: { ...SURROUNDINGS, ...PASSWORDS },
    })
    const passes: { changes?: object | null }[] = []
    createInterface(child.stdout).on('line', (line) => {
      if (line.startsWith('{"at"')) passes.push(JSON.parse(line))
    })
    const passed = (count: number) =>
      vi.waitFor(() => expect(passes.length).toBeGreaterThanOrEqual(count), { timeout: 60_000 })
    await passed(1)
    await fill(accountOn(from.port, 'standing'), { INBOX: [{}] })
    const known = passes.length
    await passed(known + 1)
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(passes[0]).toMatchObject({ changes: null, errors: 0 })
    expect(passes.slice(known).some(({ changes }) => changes !== null)).toBe(true)
    const there = await read(accountOn(to.port, 'standing'))
    expect(there['INBOX']).toHaveLength(3)
  })

  it('copies the mailboxes of a file, and names the line of each that failed', async () => {
    const file = join(folder, 'company.csv')
    const batch = async (lines: string[]) => {
      writeFileSync(file, ['source_user;destination_user;password', ...lines].join('\n'))
      const servers = [from, to].map(({ port }) => `imap://127.0.0.1:${port}`)
      const args = ['--batch', file, '--source', servers[0] as string]
      const child = spawn(
        process.execPath,
        [PROGRAM, 'migrate', ...args, '--destination', servers[1] as string, '--state', folder],
        { env: SURROUNDINGS, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      const [out, [code]] = await Promise.all([consume.text(child.stdout), once(child, 'exit')])
      return { out, code: code as number }
    }
    const failing = await batch(['small;five;secret', 'small2;five;wrong', 'small;six;'])
    expect(failing.code).toBe(1)
    expect(failing.out).toMatch(/copied line 2, small on 127\.0\.0\.1 → five on .*, 2 messages\n/)
    expect(failing.out).toMatch(/failed line 3, .*refused the user name or password/)
    expect(failing.out).toMatch(/invalid line 4, .*The source password is missing/)
    expect(failing.out).toMatch(/\n1 of 3 mailboxes, 2 messages, in \d+ s\. 2 failed: .*\n$/)
    expect(await batch(['small;five;secret', 'small2;five;secret'])).toEqual({
      code: 0,
      out: expect.stringMatching(/\n2 of 2 mailboxes, 3 messages, in \d+ s\.\n$/),
    })
    expect((await read(accountOn(to.port, 'five')))['INBOX']).toHaveLength(3)
  })

  it('shows the folders with their sizes, copies them, and reports the verification', async () => {
    const { out, err, code } = await start('one', ['--all']).done
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^Verified: 151 of 151 messages in 2 folders, 4\.2 MB, in \d+ s\.\n$/),
    ])
    expect(err).toMatch(/150 +4\.2 MB +INBOX/)
    expect(err).toMatch(/151 +4\.2 MB +2 folders/)
    const [here, there] = await Promise.all([
      read(accountOn(from.port)),
      read(accountOn(to.port, 'one')),
    ])
    expect(contents(there['INBOX'])).toEqual(contents(here['INBOX']))
  })

  it('does nothing twice when it is called again, and gives JSON', async () => {
    const { out, err, code } = await run('one', ['--all', '--json'])
    expect([code, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toMatchObject({
      success: true,
      status: 'completed',
      errors: [],
      progress: { messagesDone: 151, bytesDone: expect.any(Number) },
    })
    expect((await read(accountOn(to.port, 'one')))['INBOX']).toHaveLength(150)
  })

  it('shows all destinations in a dry run, and copies nothing', async () => {
    const { out, code } = await run('two', [
      '--folder',
      'Sent/2024',
      '--prefix',
      'Old',
      '--dry-run',
      '--json',
    ])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      folders: [{ source: 'Sent/2024', destination: 'Old/Sent/2024' }],
    })
    expect(Object.keys(await read(accountOn(to.port, 'two')))).toEqual(['INBOX'])
  })

  it('can be resumed by the same command after Ctrl-C', { timeout: 60_000 }, async () => {
    const proxy = await startProxy(to.port, { roundTrip: 150 })
    const { child, done } = start('three', ['--all'], proxy.port)
    // The journal is created when copying begins.
    const isCopying = () =>
      readdirSync(folder).some(
        (name) =>
          name.includes('three') && readFileSync(join(folder, name), 'utf8').includes('intents'),
      )
    await expect.poll(isCopying, { interval: 20, timeout: 60_000 }).toBe(true)
    child.kill('SIGINT')
    expect(await done).toMatchObject({
      code: 130,
      err: expect.stringContaining('Run the same command to continue.'),
    })
    proxy.roundTrip = 0
    expect(await run('three', ['--all'], { port: proxy.port })).toMatchObject({ code: 0 })
    const [here, there] = await Promise.all([
      read(accountOn(from.port)),
      read(accountOn(to.port, 'three')),
    ])
    expect(contents(there['INBOX'])).toEqual(contents(here['INBOX']))
    await proxy.close()
  })

  it('reads passwords from files, and never prints them', async () => {
    const file = join(folder, 'password')
    writeFileSync(file, 'wrong-password\n')
    const { out, err, code } = await run('four', ['--all', '--source-password-file', file])
    expect(code).toBe(1)
    expect(err).toContain('refused the user name or password')
    expect(out + err).not.toContain('wrong-password')
  })

  it.each([
    [['--all', '--folder', 'x'], 'Choose folders with --all'],
    [[], 'Choose folders with --all'],
    [['--all', '--connections', '0'], '--connections'],
    [['--all', '--map', 'x'], '--map x'],
    [['--all', '--source', 'imap://a:b@c'], 'must not have a password'],
    [['--all', '--source', 'http://c'], '--source must be'],
    [['--all', '--unknown'], '--unknown'],
  ])('refuses %j with usage and exit code 2', async (args, words) => {
    expect(await run('four', args)).toMatchObject({ code: 2, err: expect.stringContaining(words) })
  })

  it('reports a missing password where no terminal can prompt for it', async () => {
    expect(await run('four', ['--all'], { env: {} })).toMatchObject({
      code: 2,
      err: expect.stringContaining('Password missing'),
    })
  })
})
