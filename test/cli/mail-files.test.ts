import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFolders } from '../../src/migration/files/find-folders.ts'
import { accountOn, contents, fill, mail, read } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy } from '../servers/proxy.ts'
import { PROGRAM, runInProcess, runPortreeve, SURROUNDINGS } from './command.ts'

const FROM = 'From a@b Tue Jan  2 03:04:05 2024'

describe('mail in files', () => {
  let server: MailServer
  let folder: string
  let env: Record<string, string>

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portreeve-mail-files-'))
    server = await startDovecot()
    for (const user of [
      'alice',
      'takeout',
      'killed',
      'uncut',
      'cut',
      'exported',
      'mbox',
      'maildir',
      'eml',
      'partly',
    ])
      await server.addUser(user, 'secret')
    env = {
      DATA_DIR: folder,
      PORTREEVE_SOURCE_PASSWORD: 'secret',
      PORTREEVE_DESTINATION_PASSWORD: 'secret',
    }
  })
  afterAll(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  const url = (user: string) => `imap://${user}@127.0.0.1:${server.port}`
  const importing = (path: string, user: string, ...more: string[]) =>
    runInProcess(['import', path, '--destination', url(user), ...more], env)
  const exporting = (path: string, user: string, ...more: string[]) =>
    runInProcess(['export', path, '--source', url(user), ...more], env)

  /** Runs the program and kills it once its journal has so many copied messages. */
  async function killWhenCopied(args: string[], name: RegExp, count: number): Promise<void> {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { ...SURROUNDINGS, ...env },
      stdio: 'ignore',
    })
    const state = join(folder, 'migrations')
    const isCopied = () =>
      (existsSync(state) ? readdirSync(state) : [])
        .filter((file) => name.test(file) && file.endsWith('.jsonl'))
        .flatMap((file) => [...readFileSync(join(state, file), 'utf8').matchAll(/"copied":(\d+)/g)])
        .some(([, copied]) => Number(copied) >= count)
    while (child.exitCode === null && !isCopied())
      await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  it('goes from IMAP to each format and back, equal in content', { timeout: 120_000 }, async () => {
    const tricky = (text: string) => ({ body: `Message-ID: <${text.length}@x>\r\n\r\n${text}\r\n` })
    await fill(accountOn(server.port), {
      INBOX: [
        { flags: ['\\Seen', '$Label1'], date: ' 5-Feb-2020 10:11:12 +0000' },
        { flags: ['\\Answered', '\\Flagged', '\\Draft'], body: mail(2_500_000) },
        tricky('From here\r\n>From there\r\n\r\nFrom x Tue Jan  2 03:04:05 2024\r\nSubject: y'),
        { body: 'Subject: no Message-ID\r\n\r\nText without an end' },
        { body: 'Status: R\r\nX-UID: 4\r\nContent-Length: 3\r\nX-Keywords: a\r\n\r\nText\r\n' },
      ],
      'Work/v1.2 & Café': [{}, {}],
      Empty: [],
    })
    const original = await read(accountOn(server.port))
    for (const format of ['mbox', 'maildir', 'eml'] as const) {
      const files = join(folder, format)
      const out = await exporting(files, 'alice', '--format', format)
      expect([format, out.err, out.out, out.code]).toEqual([
        format,
        expect.anything(),
        expect.stringMatching(/Verified: 7 of 7 messages/),
        0,
      ])
      const again = await exporting(
        files,
        'alice',
        '--format',
        format,
        '--state',
        join(folder, `again-${format}`),
      )
      expect([again.out, again.code]).toEqual([
        expect.stringMatching(/7 of them skipped as duplicates/),
        0,
      ])
      const back = await importing(files, format)
      expect([back.err, back.out, back.code]).toEqual([
        expect.anything(),
        expect.stringMatching(/Verified: 7 of 7/),
        0,
      ])
      const copied = await read(accountOn(server.port, format))
      for (const path of ['INBOX', 'Work/v1.2 & Café']) {
        const [there, here] = [copied[path], original[path]]
        if (format === 'maildir') expect(contents(there)).toEqual(contents(here))
        const hashes = (all = here) => all?.map(({ hash }) => hash).toSorted()
        expect(hashes(there)).toEqual(hashes())
        if (format === 'mbox')
          expect(there?.map(({ flags }) => flags).toSorted()).toEqual(
            here?.map(({ flags }) => flags).toSorted(),
          )
      }
    }
    expect(readdirSync(join(folder, 'maildir')).toSorted()).toContain('.Work.v1&AC4-2 &- Caf&AOk-')
  })

  it(
    'comes from a Takeout by its labels, and only what is new later',
    { timeout: 60_000 },
    async () => {
      const file = join(folder, 'All mail.mbox')
      const message = (labels: string, id: number) =>
        `${FROM}\r\nX-Gmail-Labels: ${labels}\r\nMessage-ID: <${id}@takeout>\r\nSubject: ${id}\r\n\r\nText\r\n\r\n`
      const first = message('Inbox,Unread', 1) + message('Sent,Opened', 2) + message('Work', 3)
      writeFileSync(file, first)
      const dry = await importing(file, 'takeout', '--dry-run')
      expect([dry.out, dry.code]).toEqual([
        expect.stringMatching(/Dry run: 3 messages in 3 folders/),
        0,
      ])
      expect((await importing(file, 'takeout')).out).toMatch(
        /Verified: 3 of 3 messages in 3 folders/,
      )
      writeFileSync(file, message('Archived', 4) + first)
      expect((await importing(file, 'takeout')).out).toMatch(
        /Verified: 4 of 4 messages in 4 folders/,
      )
      const copied = await read(accountOn(server.port, 'takeout'))
      expect(copied).toMatchObject({
        INBOX: [{ flags: [], date: expect.stringMatching(/2-Jan-2024 03:04:05 \+0000$/) }],
        Sent: [{ flags: ['\\Seen'] }],
        Work: [{ flags: ['\\Seen'] }],
        Archive: [{}],
      })
    },
  )

  it('is imported once although the import is killed', { timeout: 180_000 }, async () => {
    const file = join(folder, 'killed.mbox')
    const line = 'A line of text as long as lines are in mail.\n'
    const message = (n: number, lines: number) =>
      `${FROM}\nSubject: ${n}\nMessage-ID: <k${n}@x>\n\n${line.repeat(lines)}\n`
    // The large ones are copied while the small ones behind them are still read.
    const [large, small] = [160, 2_000]
    writeFileSync(file, '')
    for (let n = 0; n < large; n++) appendFileSync(file, message(n, 20_000))
    for (let n = 0; n < small; n++) appendFileSync(file, message(large + n, 100))
    const whole = [expect.stringMatching(/Verified: 2,160 of 2,160/), 0]
    const uncut = await importing(file, 'uncut', '--state', join(folder, 'uncut'))
    expect([uncut.out, uncut.code]).toEqual(whole)
    await killWhenCopied(['import', file, '--destination', url('killed')], /killed/, 1)
    const { out, code } = await importing(file, 'killed')
    expect([out, code]).toEqual(whole)
    const copied = await read(accountOn(server.port, 'killed'))
    const hashes = new Set(copied['killed']?.map(({ hash }) => hash))
    expect([copied['killed']?.length, hashes.size]).toEqual([large + small, large + small])
    rmSync(file)
  })

  it(
    'is imported once and unchanged although connections are cut',
    { timeout: 120_000 },
    async () => {
      const file = join(folder, 'cut.mbox')
      const count = 1_000
      const message = (n: number) =>
        `Subject: ${n}\nMessage-ID: <c${n}@x>\n\n${`Text of message ${n} alone\n`.repeat(500 + (n % 9) * 400)}`
      const messages = Array.from({ length: count }, (_, n) => message(n))
      writeFileSync(file, messages.map((text) => `${FROM}\n${text}\n`).join(''))
      const proxy = await startProxy(server.port)
      const cuts = [9_000_000, 4_000_000, 6_000_000]
      const cutNext = () => proxy.cutAfter('toServer', cuts.pop() ?? Infinity)
      cutNext()
      // A connection that is opened again is cut, too.
      let known = 1
      const timer = setInterval(() => {
        if (proxy.connections() <= known || cuts.length === 0) return
        known = proxy.connections()
        cutNext()
      }, 20)
      const to = `imap://cut@127.0.0.1:${proxy.port}`
      const { out, code } = await runPortreeve(['import', file, '--destination', to], env)
      clearInterval(timer)
      await proxy.close()
      expect([out, code]).toEqual([expect.stringMatching(/Verified: 1,000 of 1,000/), 0])
      expect(cuts).toEqual([])
      const copied = (await read(accountOn(server.port, 'cut')))['cut'] ?? []
      const expected = messages.map((text) =>
        createHash('sha256').update(text.replaceAll('\n', '\r\n')).digest('hex'),
      )
      expect(copied.map(({ hash }) => hash).toSorted()).toEqual(expected.toSorted())
      rmSync(file)
    },
  )

  it(
    'is exported once and whole although the export is killed twice, in every format',
    { timeout: 180_000 },
    async () => {
      const named = Array.from({ length: 700 }, () => ({ body: mail(10_000) }))
      const nameless = named.map((_, n) => ({ body: `Subject: ${n}\r\n\r\nText ${n}\r\n` }))
      await fill(accountOn(server.port, 'exported'), { INBOX: [...named, ...nameless] })
      const { INBOX: original = [] } = await read(accountOn(server.port, 'exported'))
      for (const format of ['mbox', 'maildir', 'eml'] as const) {
        const files = join(folder, `exported-${format}`)
        const args = ['export', files, '--source', url('exported'), '--format', format]
        for (const copied of [1, 500])
          await killWhenCopied(args, new RegExp(`exported.*${format}`), copied)
        const { out, code } = await runPortreeve(args, env)
        const verified = expect.stringMatching(/Verified: 1,400 of 1,400/)
        expect([format, out, code]).toEqual([format, verified, 0])
        expect(hashesIn(files)).toEqual(original.map(({ hash }) => hash).toSorted())
        const names = readdirSync(files, { recursive: true, encoding: 'utf8' })
        expect(names.filter((name) => /\.tmp$|portreeve-size$|tmp\/./.test(name))).toEqual([])
      }
    },
  )

  it('is imported without what cannot be read, which is named and counted', async () => {
    const files = join(folder, 'partly')
    mkdirSync(files)
    const message = (n: number, labels: string) =>
      `${FROM}\nX-Gmail-Labels: ${labels}\nSubject: ${n}\n\nText\n\n`
    writeFileSync(join(files, 'Box'), message(1, 'Wumbo') + message(2, 'Wumbo'))
    writeFileSync(join(files, 'Box.msf'), 'an index')
    writeFileSync(join(files, 'old.mbox'), 'no mail')
    const { out, err, code } = await importing(files, 'partly')
    expect([out, err, code]).toEqual([
      expect.stringMatching(/folders of yours: Wumbo[^]*which of 2 messages were read[^]*: 2 of 2/),
      expect.stringMatching(
        /Left out: \S*old\.mbox: It does not begin[^]*Without mail: one file, \S*Box\.msf/,
      ),
      1,
    ])
    const again = await importing(files, 'partly', '--json')
    expect([JSON.parse(again.out), again.code]).toMatchObject([
      {
        success: false,
        status: 'failed',
        progress: { messagesDone: 2 },
        errors: [],
        leftOutCount: 2,
        leftOut: [
          { path: join(files, 'old.mbox'), count: 1, isProblem: true },
          { path: join(files, 'Box.msf'), count: 1, isProblem: false },
        ],
      },
      1,
    ])
    expect(await read(accountOn(server.port, 'partly'))).toMatchObject({
      Wumbo: [{ flags: [] }, { flags: [] }],
    })
  })

  it('is refused plainly where it is no mail', async () => {
    writeFileSync(join(folder, 'old.pst'), '!BDN')
    writeFileSync(join(folder, 'text.mbox'), 'no mail')
    expect(await importing(join(folder, 'old.pst'), 'alice')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Outlook data files are not supported'),
    })
    expect(await importing(join(folder, 'text.mbox'), 'alice')).toMatchObject({
      code: 2,
      err: expect.stringContaining('It does not begin with a line “From …”'),
    })
    expect(await importing(join(folder, 'nothing'), 'alice')).toMatchObject({ code: 2 })
  })
})

/** The SHA-256 of each message that is found below a folder. */
function hashesIn(files: string): string[] {
  const messages = findFolders(files).folders.flatMap((found) => [
    ...found.messages(() => undefined),
  ])
  return messages
    .map(({ read: parts }) => {
      const sum = createHash('sha256')
      for (const part of parts()) sum.update(part)
      return sum.digest('hex')
    })
    .toSorted()
}
