import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findFolders } from '../../src/migration/files/find-folders.ts'
import { fillWithCrlf, moduleMemory } from '../../src/migration/files/formats/bare-ends.ts'
import type { FoundMessage } from '../../src/migration/files/formats/found-message.ts'
import { readLabels } from '../../src/migration/files/formats/gmail-labels.ts'
import { isMbox } from '../../src/migration/files/formats/from-line.ts'
import { dateInFromLine, readMbox } from '../../src/migration/files/formats/mbox-read.ts'
import { MEMORY_PARTS } from '../../src/migration/files/formats/memory-parts.ts'
import { assemble, MODULE_FILE } from '../../scripts/wasm.ts'
import { openSource } from '../../src/migration/files/open-source.ts'
import { openStoreSession } from '../../src/migration/files/server/serve-store.ts'
import { SharedPlaces } from '../../src/migration/files/thread/shared-places.ts'
import { startSource } from '../../src/migration/files/thread/source-thread.ts'
import { openUidIndex } from '../../src/migration/files/uid-index.ts'
import { freeBuffer } from '../../src/net/free-buffer.ts'
import { fetchBodies } from '../../src/net/imap/fetch/fetch-bodies.ts'
import { fetchMetadata } from '../../src/net/imap/fetch/fetch-metadata.ts'
import { examine } from '../../src/net/imap/folders/mailbox.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'portreeve-files-'))))
afterEach(() => rmSync(folder, { recursive: true }))

function put(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content, 'latin1')
  return path
}

const textOf = ({ read }: { read: () => Iterable<Buffer> }) =>
  Buffer.concat(Array.from(read(), (part) => Buffer.from(part))).toString('latin1')

/** The messages of an mbox file. Every announced size must be that of the content. */
function messagesOf(content: string | Buffer) {
  return [...readMbox(put('test.mbox', content))].map((message) => {
    const text = textOf(message)
    expect(message.size).toBe(text.length)
    const filled = Buffer.alloc(message.size)
    message.fill?.(filled)
    if (message.fill) expect(filled.toString('latin1')).toBe(text)
    return { ...message, text }
  })
}

const FROM = 'From a@b Tue Jan  2 03:04:05 2024'

describe('an mbox file', () => {
  it('is divided at From_ lines only, and unquoted', () => {
    const bodies = [
      'Text\n>From here on\n>>From twice\n> From not\n\nFrom now on, no date\n',
      'From the start, though.\nFrom a list: Tue Jan  2 2024\n',
      '',
      'no end of line',
    ]
    const mbox = bodies.map((body, n) => `${FROM}\nSubject: ${n}\n\n${body}`).join('\n')
    expect(messagesOf(mbox).map(({ text }) => text)).toEqual([
      'Subject: 0\r\n\r\nText\r\nFrom here on\r\n>From twice\r\n> From not\r\n\r\nFrom now on, no date\r\n',
      'Subject: 1\r\n\r\nFrom the start, though.\r\nFrom a list: Tue Jan  2 2024\r\n',
      'Subject: 2\r\n\r\n',
      'Subject: 3\r\n\r\nno end of line',
    ])
    const crlf = messagesOf(mbox.replaceAll('\n', '\r\n')).map(({ text }) => text)
    expect(crlf).toEqual(messagesOf(mbox).map(({ text }) => text))
    const cr = messagesOf(mbox.replaceAll('\n', '\r')).map(({ text }) => text)
    expect(cr).toEqual(crlf)
  })

  it.each([
    // After a blank line, in front of a header: whatever the date is.
    ['From a@x.test', true],
    ['From a@x.test 2013-01-02T03:04:05Z', true],
    ['From a@x.test 2 Jan 2013', true],
    ['From a@x.test Tue Jan  2 03:04:05 13', true],
    ['From a@x.test mar. janv.  2 03:04:05 2013', true],
    ['From root Di Jan  2 03:04:05 2013', true],
    ['From "Ann B." <a@x.test> Tue Jan  2 03:04:05 2013', true],
    ['From - 02.01.2013 03:04', true],
    ['From ', true],
    ['From -', true],
    ['From now on', false],
    ['From: a@x.test', false],
    ['from a@x.test Tue Jan  2 03:04:05 2013', false],
  ])('takes “%s” for the beginning of a message: %s', (line, isOne) => {
    const first = `${FROM}\nSubject: 1\n\nText\n`
    const count = (between: string, header: string) =>
      messagesOf(`${first}${between}${line}\n${header}\n\nText\n`).length
    expect(count('\n', 'Subject: 2')).toBe(isOne ? 2 : 1)
    // A text, and a link in it.
    for (const text of ['a text follows', 'https://x.test/: a link', 'Note: a text\nfollows'])
      if (!/Tue.*2013$/.test(line)) expect([text, count('\n', text)]).toEqual([text, 1])
    // Without a blank line, a time is needed, and behind an address if it is in an unusual form.
    const isTimed = /:0/.test(line) && /@| - |Tue/.test(line) && isOne
    expect(count('', 'Subject: 2')).toBe(isTimed ? 2 : 1)
    expect(isMbox(Buffer.from(`${line}\nSubject: 2\n\n`))).toBe(isOne)
  })

  it('uses a Content-Length that a message or the end follows, and no other', () => {
    const body = `Text\n\n${FROM}\nSubject: forwarded\n\n>From kept\n`
    const message = (length: number) =>
      `${FROM}\nContent-Length: ${length}\nSubject: x\n\n${body}\n`
    expect(messagesOf(message(body.length) + message(body.length)).map(({ text }) => text)).toEqual(
      Array.from({ length: 2 }, () => `Subject: x\r\n\r\n${body.replaceAll('\n', '\r\n')}`),
    )
    expect(messagesOf(message(body.length - 3) + message(9e9))).toHaveLength(4)
  })

  it('has flags, keywords and dates in the fields of mail programs', () => {
    const [mutt, thunderbird, other, ...rest] = messagesOf(
      [
        `${FROM}\nStatus: RO\nX-Status: AF\nX-Keywords: one  two\nMessage-ID: <a@b>\nSubject: a\n\nText\n`,
        'From - Mon Jan 01 00:00:00 2001\nX-Mozilla-Status: 1005\nX-Mozilla-Status2: 00000000\nX-Mozilla-Keys: $label1\nReceived: by x;\n Wed, 3 Jan 2024 04:05:06 +0100\nDate: Thu, 4 Jan 2024 00:00:00 +0000\n\nText\n',
        'From \nDate: Thu, 4 Jan 2024 00:00:00 +0000\n\nText\n',
        'From - Mon Jan 01 00:00:00 2001\nX-Mozilla-Status: 0009\nSubject: deleted\n\nText\n',
      ].join('\n'),
    )
    expect(rest).toEqual([])
    expect(mutt).toMatchObject({
      flags: ['\\Seen', '\\Answered', '\\Flagged', 'one', 'two'],
      date: ' 2-Jan-2024 03:04:05 +0000',
      messageId: '<a@b>',
      text: 'Message-ID: <a@b>\r\nSubject: a\r\n\r\nText\r\n',
    })
    expect(thunderbird).toMatchObject({
      flags: ['\\Seen', '\\Flagged', '$Forwarded', '$label1'],
      date: ' 3-Jan-2024 04:05:06 +0100',
    })
    expect(other).toMatchObject({ flags: [], date: ' 4-Jan-2024 00:00:00 +0000' })
    expect(dateInFromLine('From x Tue Jan 02 03:04:05 +0100 2024')).toBe(
      ' 2-Jan-2024 02:04:05 +0000',
    )
  })

  it('is read whatever its bytes are, in the same size each time', () => {
    const nul = `${FROM}\nSubject: nul\n\na\0b\r\n\xff\n`
    expect(messagesOf(nul)[0]?.text).toBe('Subject: nul\r\n\r\na\0b\r\n\xff\r\n')
    const huge = `${FROM}\nX-Huge: ${'x'.repeat(9_000_000)}\nSubject: late\n\nText\n`
    for (const file of [huge + huge, `${huge}\n${huge}`])
      expect(messagesOf(file).map(({ size }) => size)).toEqual([9_000_033, 9_000_033])
    expect(messagesOf(`${FROM}\nSubject: cut`)[0]?.text).toBe('Subject: cut')
    expect(messagesOf(FROM)).toEqual([expect.objectContaining({ size: 0 })])
    for (const text of ['', 'Subject: x\n\n', 'From here\nto there\n', '%PDF-1.4'])
      expect(isMbox(Buffer.from(text))).toBe(false)
    // Pseudo-random files, longer than a buffer, of parts that matter to the parser.
    const parts = [
      '\n',
      '\r\n',
      '\r',
      FROM,
      '>From ',
      '>',
      'From ',
      'a: b',
      'x'.repeat(5_000),
      '\n\n',
    ]
    let seed = 1
    const next = () => (seed = (seed * 48_271) % 2_147_483_647)
    for (let run = 0; run < 40; run++) {
      const random = Array.from(
        { length: run < 38 ? 60 : 8_000 },
        () => parts[next() % parts.length],
      )
      messagesOf(`${FROM}\nSubject: x\n\n${random.join('')}`)
    }
  })

  it('is divided at the same lines wherever the parts that are read end', () => {
    const bodies = Array.from({ length: 600 }, (_, n) =>
      `Line ${n}\n>From ${'x'.repeat(n % 90)}\nFrom a list: 2024\n`.repeat(n % 97),
    )
    const mbox = bodies.map((body, n) => `${FROM}\nSubject: ${n}\n\n${body}\n`).join('')
    const expected = bodies.map(
      (body, n) =>
        `Subject: ${n}\r\n\r\n${body.replaceAll('>From', 'From').replaceAll('\n', '\r\n')}`,
    )
    for (const ending of ['\n', '\r\n', '\r'])
      expect(messagesOf(mbox.replaceAll('\n', ending)).map(({ text }) => text)).toEqual(expected)
  })

  it('ends where it was truncated, or where it ended when it was opened', () => {
    const one = `${FROM}\nSubject: x\n\n${'Text\n'.repeat(100_000)}\n`
    const path = put('growing.mbox', one.repeat(9))
    expect([...readMbox(put('empty.mbox', ''))]).toEqual([])
    const growing = readMbox(path)
    const first = growing.next().value as FoundMessage
    appendFileSync(path, one)
    expect([...growing].map(({ size }) => size)).toEqual(
      Array.from({ length: 8 }, () => first.size),
    )
    const shrinking = readMbox(path)
    shrinking.next()
    truncateSync(path, one.length * 4 + 50)
    expect([...shrinking].length).toBe(4)
    expect(() => first.fill?.(Buffer.alloc(first.size + 1))).toThrow('A file changed')
    truncateSync(path, 1_000)
    expect(() => first.fill?.(Buffer.alloc(first.size))).toThrow('A file changed')
  })

  it('gives a message the same key after it was moved, marked or followed by another', () => {
    const one = (status: string) => `${FROM}\nStatus: ${status}\nSubject: one\n\nText\n`
    const other = `${FROM}\nSubject: two\n\nText\n`
    const [alone] = messagesOf(one('O'))
    const [, moved] = messagesOf(`${other}\n${one('RO')}\n`)
    const [first] = messagesOf(`${one('RO')}\n${other}`)
    expect([moved?.key, first?.key]).toEqual([alone?.key, alone?.key])
  })
})

describe('the module that converts line ends', () => {
  it('is assembled from its source', async () => {
    expect(readFileSync(MODULE_FILE, 'utf8')).toBe(await assemble())
  })

  it('changes nothing around the place that it fills', () => {
    const path = put('lines', `${'ab\n'.repeat(10)}${'x'.repeat(70)}${'\n'.repeat(60)}`)
    const fd = openSync(path, 'r')
    const around = Buffer.from(moduleMemory, MEMORY_PARTS.messages.at, 4_096)
    try {
      for (let start = 0; start < 160; start++) {
        for (let end = start; end <= 160; end += 7) {
          const text = readFileSync(path, 'latin1').slice(start, end).replaceAll('\n', '\r\n')
          for (const missing of [0, 1, 9, 40].filter((bytes) => bytes <= text.length)) {
            around.fill(7)
            const target = around.subarray(64, 64 + text.length - missing)
            const fill = () => fillWithCrlf(fd, start, end, target)
            if (missing > 0) expect(fill).toThrow('A file changed')
            else fill()
            if (missing === 0) expect(target.toString('latin1')).toBe(text)
            const outside = [around.subarray(0, 64), around.subarray(64 + target.length)]
            expect(outside.every((bytes) => bytes.every((byte) => byte === 7))).toBe(true)
          }
        }
      }
    } finally {
      closeSync(fd)
      around.fill(0)
    }
  })
})

describe('mail in folders', () => {
  const eml = 'Subject: x\nDate: Thu, 4 Jan 2024 00:00:00 +0000\n\nText\n'
  const found = () => {
    const { folders, left } = findFolders(folder)
    const list = folders.map(({ path, messages }) => {
      const read = [...messages((each) => left.push(each))]
      return [path, read] as const
    })
    const problems = left.filter(({ isProblem }) => isProblem)
    return { folders: Object.fromEntries(list), left: problems.map(({ reason }) => reason) }
  }

  it('is found in profiles, exports and Maildirs', () => {
    put('Inbox', `${FROM}\nSubject: x\n\nText\n`)
    put('Inbox.msf', 'index')
    put('Inbox.sbd/Work', `${FROM}\nSubject: x\n\nText\n`)
    put('Apple.mbox/mbox', `${FROM}\nSubject: x\n\nText\n`)
    put('Apple.mbox/table_of_contents', 'x')
    const plist =
      '<plist><dict><key>date-received</key><integer>1704240000</integer><key>flags</key><integer>17</integer></dict></plist>'
    put(
      'V10/Box.mbox/0A1B2C3D-0000-0000-0000-000000000000/Data/1/Messages/7.emlx',
      `${eml.length}\n${eml}${plist}`,
    )
    put('V10/Box.mbox/0A1B2C3D-0000-0000-0000-000000000000/Data/1/Messages/8.partial.emlx', 'x')
    put('Letters/2024/one.eml', eml.replaceAll('\n', '\r\n'))
    put('Outlook.pst', '!BDN')
    const { folders, left } = found()
    expect(Object.keys(folders).toSorted()).toEqual(
      ['Apple', 'INBOX', 'INBOX/Work', 'Letters/2024', 'V10/Box'].toSorted(),
    )
    expect(left).toEqual([
      'Outlook data files are not supported. Export the mail from Outlook to IMAP.',
      'Apple Mail did not download the whole message.',
    ])
    const [apple] = folders['V10/Box'] ?? []
    expect(apple).toMatchObject({
      flags: ['\\Seen', '\\Flagged'],
      date: ' 3-Jan-2024 00:00:00 +0000',
    })
    expect(apple && textOf(apple)).toBe(eml.replaceAll('\n', '\r\n'))
    expect(folders['Letters/2024']).toMatchObject([{ date: ' 4-Jan-2024 00:00:00 +0000' }])
  })

  it('is found in a Maildir with the flags of its names and the dates of its files', () => {
    const path = put('cur/1.a:2,FSa', eml)
    put('dovecot-keywords', '0 $Label1\n')
    put('new/2.b', eml)
    put('.Lists.Caf&AOk-/cur/3.c:2,RT', eml)
    mkdirSync(join(folder, '.Lists.Caf&AOk-', 'new'))
    utimesSync(path, 1_704_240_000, 1_704_240_000)
    const { folders } = found()
    expect(folders).toMatchObject({
      INBOX: [
        {
          flags: ['\\Flagged', '\\Seen', '$Label1'],
          date: ' 3-Jan-2024 00:00:00 +0000',
        },
        { flags: [] },
      ],
      'Lists/Café': [{ flags: ['\\Answered', '\\Deleted'] }],
    })
  })
})

describe('what is left out of mail in folders', () => {
  const message = (n: number) => `From: a@x.test\nSubject: ${n}\n\nText\n`
  const mbox = (n: number) => `${FROM}\n${message(n)}\n`
  const link = (name: string, target: string) => symlinkSync(target, join(folder, name))

  /** The subjects of each folder, and the files that were left out: `!` marks problems. */
  function found(root = folder) {
    const { folders, left } = findFolders(root)
    const all: Record<string, string[]> = {}
    for (const { path, messages } of folders)
      for (const each of messages((more) => left.push(more)))
        (all[path] ??= []).push(/Subject: (.*)\r/.exec(textOf(each))?.[1] ?? '')
    const names = left.map(
      ({ path, isProblem }) => `${isProblem ? '!' : ''}${relative(folder, path)}`,
    )
    return { folders: all, left: names.toSorted() }
  }

  it('is nothing that begins as mail, whatever its name is', () => {
    const names =
      'Subscriptions,Dovecot,dovecot-users,README.txt,build.log,.hidden,maildirsize,a.html,b.dat,c.msf'
    for (const [n, name] of names.split(',').entries()) put(name, mbox(n))
    put('Inbox.msf', '// <!-- <mdb:mork:z v="1.4"/> -->')
    put('dovecot.index', '\u0001\u0002')
    put('empty', '')
    put('no.mbox', 'no mail')
    const { folders, left } = found()
    expect(Object.keys(folders).toSorted()).toEqual(
      names.replace('.hidden', 'hidden').split(',').toSorted(),
    )
    expect(left).toEqual(['!no.mbox', 'Inbox.msf', 'dovecot.index', 'empty'])
  })

  it('is no Maildir below folders that are none, below hidden ones, or behind links', () => {
    for (const path of ['cur', '.Sent/cur', 'Archive/2020/cur', '.inbox.directory/Work/cur'])
      put(`fs/${path}/1:2,S`, message(1))
    for (const path of ['', '.Sent/', 'Archive/2020/', '.inbox.directory/Work/'])
      mkdirSync(join(folder, 'fs', path, 'new'))
    put('none/.Sent/cur/1:2,', message(2))
    put('none/.Archive.2020/cur/1:2,', message(3))
    put('mixed/box', mbox(4))
    put('mixed/7', message(7))
    put('mixed/10', message(10))
    put('mixed/9', message(9))
    link('elsewhere', 'none/.Sent/../../mixed/box')
    link('loop', '.')
    link('broken', 'nowhere')
    expect(found()).toEqual({
      folders: {
        fs: ['1'],
        'fs/Sent': ['1'],
        'fs/Archive/2020': ['1'],
        'fs/inbox/Work': ['1'],
        'none/Sent': ['2'],
        'none/Archive/2020': ['3'],
        mixed: ['7', '9', '10'],
        'mixed/box': ['4'],
      },
      left: ['!broken', 'elsewhere', 'loop'],
    })
  })

  it('is no level of a path outside mailboxes of Apple Mail', () => {
    for (const name of ['Data', 'Messages', '1', '1/2', 'A.mbox']) put(`${name}/1.eml`, message(1))
    put('1/Sub', mbox(2))
    put('X.mbox/0A1B2C3D-0000-0000-0000-000000000000/Data/1/Messages/2.partial.emlx', '')
    put('X.mbox/0A1B2C3D-0000-0000-0000-000000000000/Data/1/Messages/3.emlx', 'x')
    put('X.mbox/Y.mbox/Messages/4.emlx', `${message(4).length}\n${message(4)}`)
    const { folders, left } = found()
    expect(Object.keys(folders).toSorted()).toEqual(
      ['1', '1/2', '1/Sub', 'A', 'Data', 'Messages', 'X/Y'].toSorted(),
    )
    expect(left.map((name) => name.replace(/^(!?).*\//, '$1'))).toEqual([
      '!2.partial.emlx',
      '!3.emlx',
    ])
  })

  it('is named, each file alone, where it cannot be read', () => {
    put('cur/1:2,', '')
    put('cur/2:2,', '\u001f\u008b')
    put('cur/3:2,', message(3))
    put('tmp/4', message(4))
    mkdirSync(join(folder, 'new'))
    const { folders } = findFolders(folder)
    rmSync(join(folder, 'cur/3:2,'))
    expect(folders.flatMap(({ messages }) => [...messages(() => undefined)])).toEqual([])
    expect(found()).toEqual({ folders: {}, left: ['!cur/1:2,', '!cur/2:2,', 'tmp/4'] })
    expect(findFolders(join(folder, 'nothing')).left).toMatchObject([{ isProblem: true }])
    const deep = put(`${'d/'.repeat(40)}x.eml`, message(1))
    expect(found(dirname(deep)).folders).toEqual({ INBOX: ['1'] })
    expect(found(join(folder, 'd')).left).toHaveLength(1)
  })
})

describe('the place of a message', () => {
  it('has the same UID whatever its file is called and wherever it lies', async () => {
    const state = join(folder, 'state')
    const uids = async () => {
      const { signal } = new AbortController()
      const options = { origin: folder, state, labels: 'once' as const, signal }
      const store = await openSource(findFolders(join(folder, 'mail')).folders, options)
      const rows = [...store.folders].flatMap(([path, { messages }]) =>
        messages.map((each) => [`${path} ${/Subject: (\w*)/.exec(textOf(each))?.[1]}`, each.uid]),
      )
      return Object.fromEntries(rows) as Record<string, number>
    }
    const message = (subject: string) => `From: a@x.test\nSubject: ${subject}\n\nText\n`
    const takeout = (subject: string) =>
      `${FROM}\nX-Gmail-Labels: Work,Opened\n${message(subject)}\n`
    put('mail/A/1.eml', message('one'))
    put('mail/A/2.eml', message('two'))
    put('mail/All.mbox', takeout('first'))
    const before = await uids()
    // An export program numbers its files again; Takeout divides its file in another way.
    put('mail/A/1.eml', message('new'))
    put('mail/A/2.eml', message('one'))
    put('mail/A/3.eml', message('two'))
    put('mail/All-001.mbox', takeout('second'))
    put('mail/All.mbox', takeout('first'))
    expect(await uids()).toEqual({ ...before, 'A new': 3, 'Work second': 2 })
  })
})

describe('a session with mail in files', () => {
  it('sends every message as it is to a reader that pauses', async () => {
    const bodyOf = (n: number) => `Message ${n}, a line of it.\n`.repeat(2_000 + (n % 7) * 300)
    const messages = Array.from(
      { length: 120 },
      (_, n) => `${FROM}\nSubject: ${n}\n\n${bodyOf(n)}\n`,
    )
    put('Mail.mbox', messages.join(''))
    const signal = new AbortController().signal
    const options = {
      origin: folder,
      state: join(folder, 'state'),
      labels: 'ignore' as const,
      signal,
    }
    const { wire } = openStoreSession(await openSource(findFolders(folder).folders, options))
    await examine(wire, 'Mail')
    const rows = await Array.fromAsync(fetchMetadata(wire, 1, messages.length))
    const { promise: paused, resolve: tellPaused } = Promise.withResolvers<void>()
    const pause = wire.pauseReading.bind(wire)
    wire.pauseReading = () => {
      pause()
      tellPaused()
    }
    const changed: number[] = []
    for await (const fetched of fetchBodies(wire, rows)) {
      if (fetched.state !== 'here') throw new Error(fetched.state)
      // Meanwhile, further messages are written and wait unread.
      await paused
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      const n = fetched.uid - 1
      const text = `Subject: ${n}\r\n\r\n${bodyOf(n).replaceAll('\n', '\r\n')}`
      if (!Buffer.from(text).equals(fetched.body as Buffer)) changed.push(fetched.uid)
    }
    await wire.logout()
    expect([rows.length, changed]).toEqual([messages.length, []])
  })
})

describe('a session with mail that another thread reads', () => {
  /** Lines of 64 bytes. The last size is that of a message that is sent in parts. */
  const lines = [1, 60, 64, 1_000, 3_000, 15_700, 17_000]
  const bodyOf = (n: number) => `${`${n} `.padEnd(63, 'x')}\n`.repeat(lines[n % 7] as number)

  it.each([
    ['frees each message', true],
    ['keeps all of them', false],
  ])('sends every message as it is to a reader that %s', async (_, isFreed) => {
    const count = 280
    const mbox = Array.from(
      { length: count },
      (__, n) => `${FROM}\nSubject: ${n}\n\n${bodyOf(n)}\n`,
    )
    put('Mail.mbox', mbox.join(''))
    const { signal } = new AbortController()
    const state = join(folder, 'state')
    const source = startSource({ roots: [folder], state, labels: 'ignore', inParts: false }, signal)
    try {
      await source.found()
      const { wire } = source.openSession()
      await examine(wire, 'Mail')
      const rows = await Array.fromAsync(fetchMetadata(wire, 1, count))
      const kept = new Map<number, Buffer>()
      let shared = 0
      for await (const fetched of fetchBodies(wire, rows)) {
        if (fetched.state !== 'here') throw new Error(fetched.state)
        const { uid, body } = fetched
        const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body))
        if (bytes.buffer instanceof SharedArrayBuffer) shared += 1
        kept.set(uid, isFreed ? Buffer.from(bytes) : bytes)
        if (isFreed) freeBuffer(bytes)
      }
      const changed = [...kept].filter(([uid, bytes]) => {
        const text = `Subject: ${uid - 1}\r\n\r\n${bodyOf(uid - 1).replaceAll('\n', '\r\n')}`
        return !Buffer.from(text).equals(bytes)
      })
      expect([kept.size, changed]).toEqual([count, []])
      // Four of seven sizes are shared, as long as there is room.
      if (isFreed) expect(shared).toBe((count / 7) * 4)
      else expect(shared).toBeLessThan((count / 7) * 4)
    } finally {
      await source.close()
    }
  })
})

describe('the memory that threads share', () => {
  it('gives places that do not overlap, until they are freed', () => {
    const places = new SharedPlaces(new SharedArrayBuffer(64 * 1024), 1_024)
    const taken = Array.from({ length: 100 }, (_, n) => places.take(1 + n * 50))
    const given = taken.filter((place) => place !== null)
    for (const [n, place] of given.entries()) place.fill(n)
    for (const [n, place] of given.entries()) {
      expect(place.every((byte) => byte === n)).toBe(true)
      expect(places.filled(place.byteOffset)).toHaveLength(place.length)
    }
    expect(given.length).toBeGreaterThan(20)
    expect(places.take(60_000)).toBe(null)
    for (const place of given) places.free(place.byteOffset + 100)
    expect(places.take(60_000)?.length).toBe(60_000)
  })
})

describe('labels of Gmail', () => {
  it('choose folders and flags, in several languages', () => {
    const place = (labels: string, every = false) =>
      readLabels(Buffer.from(labels).toString('latin1'), every)
    expect(
      place('Inbox,Important,Opened,Starred,"Work, home",Category Updates', true),
    ).toMatchObject({ folders: ['INBOX', 'Work, home'], flags: ['\\Flagged'], isRead: true })
    expect(place('=?UTF-8?Q?Entw=C3=BCrfe,Ungelesen,Caf=C3=A9?=')).toMatchObject({
      folders: ['Drafts'],
      flags: ['\\Draft'],
      isRead: false,
      ownLabels: ['Café'],
    })
    expect(place('Archiviert,Gelesen').folders).toEqual(['Gelesen'])
    expect(place('Archived,Opened')).toMatchObject({ folders: ['Archive'], isRead: true })
    expect(place('Papierkorb,Posteingang').folders).toEqual(['Trash'])
  })
})

describe('the index of UIDs', () => {
  it('keeps UIDs over runs, and survives a killed one', async () => {
    const open = () => openUidIndex(folder, '/mail', 'INBOX')
    const index = open()
    expect(['a', 'b', 'a'].map((key) => index.assign(key))).toEqual([1, 2, 3])
    await index.save()
    index.assign('lost')
    index.close()
    const again = open()
    expect(again.uidValidity).toBe(index.uidValidity)
    expect(['b', 'c', 'a', 'a'].map((key) => again.assign(key))).toEqual([2, 4, 1, 3])
    again.close()
  })
})
