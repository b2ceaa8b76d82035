import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as consume from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { imapsyncPage } from '../../scripts/imapsync-docs.ts'
import { parseArguments } from '../../src/cli/imapsync/parse-arguments.ts'
import { perlPattern, perlSubstitution } from '../../src/cli/imapsync/perl-patterns.ts'
import { accountOn, contents, fill, inside, mail, read, type Letter } from '../migration/mailbox.ts'
import { listFolders } from '../../src/net/imap/folders/list-folders.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startImapMailboxFake, type Fault } from '../servers/imap-mailbox-fake.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { freePort } from '../free-port.ts'
import { PROGRAM, runInProcess, SURROUNDINGS } from './command.ts'

/** How mailcow’s runner reads the end of the output. */
const MAILCOW = /Exiting\swith\sreturn\svalue\s(\d+)\s\(([^:)]+)/

describe('portreeve imapsync', () => {
  let from: MailServer
  let to: MailServer
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portreeve-imapsync-'))
    symlinkSync(PROGRAM, join(folder, 'imapsync'))
    ;[from, to] = await Promise.all([
      startDovecot({ starttls: true }),
      startDovecot({ masters: { master: 'master-secret' } }),
    ])
    for (const [name, password] of [
      ['secret', 'secret'],
      ['master', 'master-secret'],
      ['wrong', 'wrong'],
    ])
      writeFileSync(join(folder, name as string), `${password}\n`)
  })
  afterAll(async () => {
    await Promise.all([from.stop(), to.stop()])
    rmSync(folder, { recursive: true })
  })

  let users = 0
  /** A new user with these folders at the source and the destination. */
  async function newUser(
    source: Record<string, Letter[]>,
    destination: Record<string, Letter[]> = {},
  ): Promise<string> {
    const user = `user${(users += 1)}`
    await Promise.all([from.addUser(user, 'secret'), to.addUser(user, 'secret')])
    await fill(accountOn(from.port, user, { tlsVerify: false }), source)
    await fill(accountOn(to.port, user), destination)
    return user
  }

  const exitOf = (out: string) => MAILCOW.exec(out)?.slice(1)

  /** Calls the symbolic link, as a control panel would. */
  function start(words: string[], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [join(folder, 'imapsync'), ...words], {
      cwd: folder,
      env: { ...SURROUNDINGS, DATA_DIR: folder, ...env },
    })
    const done = Promise.all([
      consume.text(child.stdout),
      consume.text(child.stderr),
      once(child, 'exit'),
    ]).then(([out, err, [code, signal]]) => ({
      out: out + err,
      code: code as number,
      signal: signal as NodeJS.Signals | null,
      exit: exitOf(out),
    }))
    return { child, done }
  }
  async function run(words: string[]) {
    const settings = { DATA_DIR: folder }
    const { out, err, code } = await runInProcess(['imapsync', ...words], settings, { cwd: folder })
    return { out: out + err, code, exit: exitOf(out) }
  }

  /** The options of both accounts. */
  const sides = (user: string, port2 = to.port) => [
    '--host1',
    '127.0.0.1',
    '--port1',
    String(from.port),
    '--user1',
    user,
    '--passfile1',
    join(folder, 'secret'),
    '--host2',
    '127.0.0.1',
    '--port2',
    String(port2),
    '--user2',
    user,
    '--passfile2',
    join(folder, 'secret'),
  ]
  const reading = async (user: string) => ({
    here: await read(accountOn(from.port, user, { tlsVerify: false })),
    there: await read(accountOn(to.port, user)),
  })

  it('says that folders may be missing where the source refuses to list them', async () => {
    const user = await newUser({})
    const faults = ['LIST', 'LSUB'].map((text): Fault => ({ at: 'command', text, answer: 'NO No' }))
    const refusing = await startImapMailboxFake({ folders: { INBOX: 2, Later: 3 }, faults })
    try {
      const words = [...sides(user), '--nossl1', '--nossl2']
      words[words.indexOf('--port1') + 1] = String(refusing.port)
      const all = await run(words)
      expect([all.exit?.[0], all.out]).toEqual(['111', expect.stringContaining('refuses to list')])
      const named = await run([...words, '--folder', 'INBOX'])
      expect(named.exit?.[0]).toBe('0')
    } finally {
      await refusing.close()
    }
  })

  it('takes mailcow’s call and prints what its runner reads', { timeout: 60_000 }, async () => {
    const twice = { body: mail(300), flags: ['\\Seen'] }
    const user = await newUser(
      {
        INBOX: [{ flags: ['\\Seen'] }, { flags: ['\\Flagged'] }],
        Sent: [{}],
        Junk: [{}],
        'Work/2024': [{ date: ' 1-Jan-2001 00:00:00 +0000' }, {}],
      },
      { 'Old/INBOX': [twice, twice] },
    )
    const call = (extra: string[]) => [
      '--tmpdir',
      '/tmp',
      '--nofoldersizes',
      '--addheader',
      '--timeout1',
      '600',
      '--timeout2',
      '600',
      '--exclude',
      '(?i)spam|(?i)junk',
      '--subfolder2',
      'Old',
      '--maxage',
      '3650',
      '--maxbytespersecond',
      '100000',
      '--delete2duplicates',
      '--subscribeall',
      '--automap',
      '--skipcrossduplicates',
      '--tls1',
      '--host1',
      'localhost',
      '--user1',
      user,
      '--passfile1',
      join(folder, 'secret'),
      '--port1',
      String(from.port),
      '--host2',
      'localhost',
      '--user2',
      `${user}*master`,
      '--passfile2',
      join(folder, 'master'),
      '--no-modulesversion',
      '--noreleasecheck',
      '--port2',
      String(to.port),
      ...extra,
    ]
    const refused = await start(call([])).done
    expect([refused.code, refused.exit]).toEqual([64, ['64', 'EX_USAGE']])
    expect(refused.out).toContain(
      '--delete2duplicates would delete messages. Add --confirm-deletion',
    )

    const copied = await start(call(['--confirm-deletion'])).done
    expect([copied.out, copied.code, copied.exit]).toEqual([expect.anything(), 0, ['0', 'EX_OK']])
    expect(copied.out).toMatch(/^Messages transferred +: 4 /m)
    expect(copied.out).toMatch(/^Messages deleted on host2 +: 1$/m)
    expect(copied.out).toContain('all 4 identified messages in host1 are on host2.')
    const { here, there } = await reading(user)
    expect(there).toMatchObject({ INBOX: [], 'Old/Sent': [{}], 'Old/Work/2024': [{}] })
    expect(there['Old/Junk']).toBeUndefined()
    const [first] = there['Old/INBOX'] ?? []
    expect(contents(there['Old/INBOX']?.slice(1))).toEqual(contents(here['INBOX']))
    expect(first?.flags).toEqual(['\\Seen'])
    const listed = await inside(accountOn(to.port, user), async (session) => listFolders(session))
    expect(listed.folders.find(({ path }) => path === 'Old/Work/2024')?.subscribed).toBe(true)

    const again = await start(call([]), { PORTREEVE_CONFIRM_DELETION: 'yes' }).done
    expect([again.code, again.exit]).toEqual([0, ['0', 'EX_OK']])
    expect(again.out).toMatch(/^Messages transferred +: 0 /m)
    // NethServer prints the fourth field with awk.
    expect(/^Messages transferred.*$/m.exec(again.out)?.[0].split(/\s+/)[3]).toBe('0')
  })

  it('names the reason of a failure as panels expect', async () => {
    const user = await newUser({ INBOX: [{}] })
    const wrong = join(folder, 'wrong')
    const closed = String(await freePort())
    const cases: [string[], string, string][] = [
      [['--passfile1', wrong], '161', 'ERR_AUTHENTICATION_FAILURE_USER1'],
      [['--passfile2', wrong], '162', 'ERR_AUTHENTICATION_FAILURE_USER2'],
      [['--port1', closed], '101', 'ERR_CONNECTION_FAILURE_HOST1'],
      [['--port2', closed], '102', 'ERR_CONNECTION_FAILURE_HOST2'],
      [['--tls2'], '12', 'ERR_EXIT_TLS_FAILURE'],
      [['--tls1', '--sslcheck'], '12', 'ERR_EXIT_TLS_FAILURE'],
      [['--pipemess', 'cat'], '64', 'no code from the command line is run'],
      [['--unknown'], '64', 'unknown option --unknown'],
    ]
    const outcomes = await Promise.all(
      cases.map(async ([words]) => run([...sides(user), '--justlogin', ...words])),
    )
    expect(outcomes.map(({ code, exit }) => [code, exit?.[0]])).toEqual(
      cases.map(([, code]) => [Number(code), code]),
    )
    for (const [index, [, , reason]] of cases.entries())
      expect(outcomes[index]?.out).toContain(reason)
    expect(outcomes[0]?.out).not.toContain('wrong\n')
    expect(await run([...sides(user), '', '-JUSTLOGIN', '--no-log'])).toMatchObject({ code: 0 })
    expect((await reading(user)).there['INBOX']).toEqual([])
  })

  it('chooses, renames and filters folders and messages', async () => {
    const large = { body: mail(20_000) }
    const old = { date: ' 1-Jan-2001 00:00:00 +0000' }
    const user = await newUser({
      INBOX: [large, {}, old],
      'Projects/A': [{}],
      'Projects/B': [{}],
      Empty: [],
    })
    const log = join(folder, 'log', 'run.log')
    const first = await run([
      ...sides(user),
      '--folder',
      'inbox',
      '--folderrec',
      'Projects',
      '--exclude',
      '/B$',
      '--minage',
      '30',
      '--f1f2',
      'INBOX=Copied',
      '--regextrans2',
      's{^Projects/(.)}{P-$1}',
      '--maxsize=10000',

      '--logdir',
      join(folder, 'log'),
      '--logfile',
      'run.log',
      '--pidfile',
      join(folder, 'pid'),
    ])
    expect([first.out, first.code]).toEqual([expect.anything(), 0])
    const { here, there } = await reading(user)
    expect(Object.keys(there).toSorted()).toEqual(['Copied', 'INBOX', 'P-A'])
    expect(there).toMatchObject({ Copied: [{}], 'P-A': [] })
    expect(readFileSync(log, 'utf8')).toContain('Exiting with return value 0')
    expect(existsSync(join(folder, 'pid'))).toBe(false)

    const all = ['--f1f2', 'INBOX=Copied', '--maxsize=10000', '--folder', 'INBOX']
    expect(await run([...sides(user), ...all])).toMatchObject({ code: 0 })
    const later = (await reading(user)).there
    expect(contents(later['Copied'])).toEqual(contents(here['INBOX']?.slice(1)))

    const folders = await newUser({ INBOX: [{}], 'Only/Folders': [{}] })
    expect(await run([...sides(folders), '--justfolders'])).toMatchObject({ code: 0 })
    expect((await reading(folders)).there).toMatchObject({ INBOX: [], 'Only/Folders': [] })
    const dry = await run([...sides(folders), '--dry', '--delete2'])
    expect(dry.out).toMatch(/^Messages transferred +: 0 \(could be 2 without dry mode\)$/m)
  })

  it('deletes only when confirmed, and only what both sides prove', async () => {
    const shared = { body: mail(400) }
    const user = await newUser(
      { INBOX: [shared, {}], Kept: [{}] },
      { INBOX: [shared, {}], Other: [{}] },
    )
    const words = [...sides(user), '--folder', 'INBOX', '--delete', '--delete2']
    expect(await run(words)).toMatchObject({ code: 64, exit: ['64', 'EX_USAGE'] })
    expect((await reading(user)).here['INBOX']).toHaveLength(2)
    const { out, code } = await run([...words, '--confirm-deletion'])
    expect([out, code]).toEqual([expect.anything(), 0])
    expect(out).toMatch(/^Messages deleted on host1 +: 2$/m)
    expect(out).toMatch(/^Messages deleted on host2 +: 1$/m)
    const { here, there } = await reading(user)
    expect(here).toMatchObject({ INBOX: [], Kept: [{}] })
    expect(there).toMatchObject({ INBOX: [{}, {}], Other: [{}] })
  })

  it('deletes no draft whose newer text the destination does not have', async () => {
    const draft = (text: string) => ({ body: `Message-ID: <draft@x.test>\r\n\r\n${text} text\r\n` })
    const same = { body: mail(300) }
    const user = await newUser(
      { INBOX: [draft('new'), same] },
      { INBOX: [draft('old'), draft('odd'), same, same] },
    )
    const words = [...sides(user), '--delete1', '--delete2duplicates', '--confirm-deletion']
    const { out, code } = await run(words)
    expect([out, code]).toEqual([expect.anything(), 0])
    expect(out).toMatch(/^Messages deleted on host1 +: 1$/m)
    expect(out).toMatch(/^Messages deleted on host2 +: 1$/m)
    expect(out).toContain('1 of them with other content')
    const { here, there } = await reading(user)
    expect([here['INBOX']?.length, there['INBOX']?.length]).toEqual([1, 3])
  })

  it(
    'ends with its last line at a limit or a signal, and continues',
    { timeout: 60_000 },
    async () => {
      const user = await newUser({
        INBOX: Array.from({ length: 600 }, () => ({ body: mail(6_000) })),
      })
      expect(await run([...sides(user), '--exitwhenover', '100000'])).toMatchObject({
        exit: ['118', 'EXIT_TRANSFER_EXCEEDED'],
      })
      expect(await run(sides(user))).toMatchObject({ code: 0 })
      const { here, there } = await reading(user)
      expect(contents(there['INBOX'])).toEqual(contents(here['INBOX']))

      const state = join(folder, 'slow')
      const again = [...sides(user), '--subfolder2', 'Again', '--state', state]
      // At this rate it takes half a minute, so that no signal comes when it has ended.
      const slowly = [...again, '--maxbytespersecond', '100000']
      const isCopying = () =>
        existsSync(state) &&
        readdirSync(state).some((name) =>
          readFileSync(join(state, name), 'utf8').includes('intents'),
        )
      const signalled = start(slowly)
      await expect.poll(isCopying, { timeout: 20_000 }).toBe(true)
      signalled.child.kill('SIGTERM')
      const { out, code, signal } = await signalled.done
      expect([out, code, signal]).toEqual([expect.stringMatching(/EXIT_BY_SIGNAL.*\n$/), 6, null])

      // A group of processes gets a signal, and the parent passes on its own.
      // Passwords of the command line are no longer in the list of processes.
      const password1 = slowly.with(slowly.indexOf('--passfile1') + 1, 'secret')
      const { child, done } = start(password1.with(slowly.indexOf('--passfile1'), '--PASSWORD1'))
      let listed = ''
      child.stdout.on('data', (chunk) => {
        if (!/Host2: success login|Ended by/.test(String(chunk))) return
        listed = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')
        child.kill('SIGTERM')
      })
      const ended = await done
      expect(ended).toMatchObject({ code: 6, signal: null })
      expect(listed).toContain('--PASSWORD1 ***')
      expect(ended.out).toContain('Use --passfile1 FILE.')
      expect(ended.out).not.toContain('--passfile2 FILE')
      expect(await run(again)).toMatchObject({ code: 0 })
      const copy = (await reading(user)).there['Again/INBOX']
      expect(contents(copy)).toEqual(contents(here['INBOX']))
    },
  )
})

describe('the options of imapsync', () => {
  it('are documented (npm run imapsync)', async () => {
    expect(readFileSync('docs/imapsync-options.md', 'utf8')).toBe(await imapsyncPage())
  })

  it('are parsed as Getopt::Long does', () => {
    const args = parseArguments([
      '-Host1',
      'a',
      '--host2=b=c',
      '--folder',
      '-x',
      '--folder',
      'y',
      '',
      '--errorsm',
      '3',
      '--noautomap',
      '--no-log',
      '--SUBFOLDER2',
      '',
    ])
    expect([args.valueOf('host1'), args.valueOf('host2'), args.valueOf('subfolder2')]).toEqual([
      'a',
      'b=c',
      '',
    ])
    expect([args.valuesOf('folder'), args.numberOf('errorsmax')]).toEqual([['-x', 'y'], 3])
    expect([args.switchOf('automap'), args.switchOf('log'), args.switchOf('dry')]).toEqual([
      false,
      false,
      undefined,
    ])
    for (const [words, message] of [
      [['--host'], /ambiguous: --host1, --host2/],
      [['--maxage', 'x'], /must be a number/],
      [['--user1'], /needs a value/],
      [['--dry=1'], /takes no value/],
      [['--nosyncinternaldates'], /--nosyncinternaldates is refused/],
      [['stray'], /unexpected argument/],
    ] as const)
      expect(() => parseArguments(words)).toThrow(message)
  })

  it('have patterns of Perl', () => {
    expect(perlPattern('(?i)spam|(?i)junk', 'exclude').test('JUNK')).toBe(true)
    expect(perlPattern('\\A\\Q[Gmail].\\E\\z', 'exclude').test('[Gmail].')).toBe(true)
    expect(() => perlPattern('(', 'exclude')).toThrow(/--exclude \(/)
    const change = (text: string, name: string) => perlSubstitution(text, 'regextrans2')(name)
    expect(change('s/^INBOX\\.(.+)/$1/', 'INBOX.Sent')).toBe('Sent')
    expect(change('s,/,_,g', 'a/b/c')).toBe('a_b_c')
    expect(change('s/a\\/b/c/', 'a/b')).toBe('c')
    expect(change('s{(o)}{${1}\\1$&$9}i', 'fOo')).toBe('fOOOo')
    for (const text of ['s/a/b/e', 'tr/a/b/', 's/a/b', 'system("x")'])
      expect(() => change(text, 'a')).toThrow(/must have the form/)
  })
})
