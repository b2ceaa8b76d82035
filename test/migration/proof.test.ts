import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hash } from 'node:crypto'
import { compareFolder } from '../../src/migration/proof/compare-folder.ts'
import type { MailboxProof, Verdict } from '../../src/migration/proof/proof-document.ts'
import { describeVerdict } from '../../src/migration/proof/messages.ts'
import { MessageList } from '../../src/migration/proof/message-list.ts'
import { createProofKey, signFile } from '../../src/migration/proof/signed-file.ts'
import { runPortreeve } from '../cli/command.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, fill, inside, mail } from './mailbox.ts'
import { startMigrations, type MigrationTest, type Person } from './module.ts'

type Shown = {
  state: string
  error: string | null
  needsPasswords: boolean
  key: { publicKey: string; fingerprint: string }
  proof: MailboxProof | null
}

const sha256 = (text: string) => hash('sha256', text, 'buffer')

describe('the verdict of a proof', () => {
  const sum = (messages: number) => ({ messages, bytes: 0, digest: '' })
  it('is none where there is nothing to compare', () => {
    const of = (source: number, additional: number, verdict: Verdict = 'identical') =>
      describeVerdict({
        verdict,
        totals: { source: sum(source), additional: sum(additional) },
      })
    expect(of(0, 0)).toBe('Nothing to prove: both sides are empty (0 messages).')
    expect(of(0, 2)).toBe('Nothing to prove: the source is empty (0 messages).')
    expect(of(0, 0, 'incomplete')).toContain('not everything could be read')
    expect(of(1, 0)).toContain('every message of the source, unchanged')
  })
})

describe('the comparison of two folders', () => {
  const listOf = (...rows: [bytes: string, id: string, flags?: string][]) => {
    const list = new MessageList()
    rows.forEach(([bytes, id, flags = ''], index) => {
      const keys = {
        exact: sha256(bytes),
        loose: sha256(bytes.replaceAll('\r', '')),
        id: sha256(id),
      }
      list.add({ uid: index + 1, size: bytes.length, date: 0, flags }, keys)
    })
    return list
  }
  const compare = (
    source: MessageList,
    destination: MessageList,
    permanentFlags: string[] = [],
  ) => {
    const changes = new Map<string, number>()
    const found = compareFolder(source, destination, { level: 'full', permanentFlags }, changes)
    return { ...found, changes: Object.fromEntries(changes) }
  }

  it('has the same digest for the same messages in any order, and another one for one message less', () => {
    const [some, same, fewer] = [
      listOf(['a', '1'], ['b', '2'], ['a', '1']),
      listOf(['b', '2'], ['a', '1'], ['a', '1']),
      listOf(['a', '1'], ['b', '2']),
    ]
    expect(compare(some, same).source).toEqual(compare(some, same).kept)
    expect(compare(some, fewer)).toMatchObject({
      onlySource: [2],
      kept: { messages: 2, digest: compare(fewer, fewer).source.digest },
    })
    expect(compare(fewer, fewer).source.digest).not.toBe(compare(some, same).source.digest)
  })

  it('recognizes changed messages, and tells flags that cannot be stored from flags that changed', () => {
    const source = listOf(
      ['line\n', '1', '$label \\seen'],
      ['whole', '2', '\\seen'],
      ['same', '3', '\\flagged junk'],
      ['gone', '4'],
      ['a long text', '6'],
    )
    const destination = listOf(
      ['line\r\n', '1', '\\seen'],
      ['whole and more', '2', '\\seen'],
      ['same', '3'],
      ['new', '5'],
      ['a long', '6'],
    )
    const permanent = ['\\Seen', '\\Flagged', 'junk']
    expect(compare(source, destination, permanent)).toMatchObject({
      changes: { line_ends: 1, content: 1, shortened: 1, flags: 1, flags_not_permitted: 1 },
      onlySource: [3],
      onlyDestination: [3],
    })
  })
})

describe('the proof of a migration', () => {
  let from: MailServer
  let to: MailServer
  let fresh: FreshDatabase
  let portreeve: MigrationTest
  let alice: Person
  let charlie: Person
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portreeve-proof-'))
    ;[from, to, fresh] = await Promise.all([startDovecot(), startDovecot(), freshDatabase()])
    portreeve = await startMigrations(fresh.url)
    ;[alice, charlie] = [await portreeve.addPerson('Alice'), await portreeve.addPerson('Charlie')]
  })
  afterAll(async () => {
    await portreeve.stop()
    await Promise.all([from.stop(), to.stop(), fresh.drop()])
    rmSync(folder, { recursive: true })
  })

  const side = (port: number, user: string) => ({
    host: '127.0.0.1',
    port,
    secure: false,
    user,
    password: 'secret',
  })
  type Answer<T> = { data: T; error: string; status: number }
  async function call<T>(path: string, body?: unknown, { token } = alice): Promise<Answer<T>> {
    const response = await portreeve.request(path, { token, ...(body !== undefined && { body }) })
    const answer = (await response.json()) as Answer<T>
    return { ...answer, status: response.status }
  }
  /** Copies folders of a new user, and returns the migration. */
  async function migrate(user: string, folders: string[]): Promise<string> {
    const body = { source: side(from.port, user), destination: side(to.port, user), folders }
    const response = await portreeve.request('migrate', { token: alice.token, body })
    const { migrationId } = (await response.json()) as { migrationId: string }
    await vi.waitFor(
      async () => {
        const found = await portreeve.request(`migrate/${migrationId}`, alice)
        expect(await found.json()).toMatchObject({ status: 'completed' })
      },
      { timeout: 30_000, interval: 50 },
    )
    return migrationId
  }
  async function prove(id: string, level: string): Promise<Shown & { proof: MailboxProof }> {
    const passwords = { source: { password: 'secret' }, destination: { password: 'secret' } }
    const asked = await call<Shown>(`migrate/${id}/proof`, { level, ...passwords })
    expect(asked.status, asked.error).toBe(200)
    return vi.waitFor(
      async () => {
        const { data } = await call<Shown>(`migrate/${id}/proof`)
        expect(data.state, data.error ?? '').toBe('done')
        return data as Shown & { proof: MailboxProof }
      },
      { timeout: 30_000, interval: 50 },
    )
  }
  async function addUser(user: string): Promise<void> {
    await Promise.all([from, to].map(async (server) => server.addUser(user, 'secret')))
  }

  it('reads both servers, and is a signed file that anybody can verify without the service', async () => {
    await addUser('ann')
    const twice = mail()
    await fill(accountOn(from.port, 'ann'), {
      INBOX: [{ body: twice }, { body: twice }, { body: mail(9_000), flags: ['\\Seen', 'work'] }],
      Archive: [{ body: 'Subject: no Message-ID\r\n\r\ntext\r\n' }],
    })
    const id = await migrate('ann', ['INBOX', 'Archive'])
    expect((await call<Shown>(`migrate/${id}/proof`)).data).toMatchObject({
      state: 'none',
      needsPasswords: true,
      proof: null,
    })
    expect((await call(`migrate/${id}/proof`, {})).status).toBe(400)
    expect((await portreeve.request(`migrate/${id}/proof/file`, alice)).status).toBe(404)
    const headers = await prove(id, 'headers')
    const { proof, key } = await prove(id, 'full')
    for (const one of [headers.proof, proof]) {
      expect(one).toMatchObject({ verdict: 'identical', missing: [], additional: [], changes: [] })
      expect(one.totals.source).toMatchObject({ messages: 4 })
      expect(one.totals.kept).toEqual(one.totals.source)
    }
    expect(proof.totals.source.digest).not.toBe(headers.proof.totals.source.digest)
    const { rows } = await fresh.pool.query('select from migration_secret')
    expect(rows).toEqual([])

    for (const path of [`migrate/${id}/proof`, `migrate/${id}/proof/file`])
      expect((await portreeve.request(path, charlie)).status).toBe(404)
    const shown = await portreeve.request('proof-key')
    expect(await shown.json()).toMatchObject({ data: key })

    const file = await (await portreeve.request(`migrate/${id}/proof/file`, alice)).text()
    let names = 0
    const verify = async (text: string, ...words: string[]) => {
      const path = join(folder, `${(names += 1)}.jsonl`)
      writeFileSync(path, text)
      return runPortreeve(['verify-proof', path, ...words], {})
    }
    const known = await verify(file, '--key', key.fingerprint)
    expect(known.out).toContain('the key is the one you gave')
    expect(known.out).toContain(proof.totals.source.digest)
    const [byServer, unknown, json] = await Promise.all([
      verify(file, '--server', portreeve.url),
      verify(file),
      verify(file, '--json', '--key', key.publicKey),
    ])
    // Anybody can sign a file: without a key it is not known to be valid.
    expect([known.code, byServer.code, unknown.code, json.code]).toEqual([0, 0, 1, 0])
    expect(JSON.parse((await verify(file, '--json')).out)).toMatchObject({
      success: false,
      data: { signer: 'unknown' },
    })
    expect(unknown.out).toContain('the signer is unknown')
    expect(JSON.parse(json.out)).toMatchObject({
      data: { signer: 'known', proof: { kind: 'mailbox' } },
    })

    const forged = { ...proof, missing: [], verdict: 'complete' }
    const other = createProofKey(Buffer.alloc(32, 7).toString('base64url'))
    const results = await Promise.all([
      verify(file.replace('"messages":4', '"messages":5')),
      verify(file.slice(0, -20)),
      verify(file.slice(0, file.indexOf('\n') - 50)),
      verify(signFile(file.split('\n', 1)[0] ?? '', other), '--key', key.publicKey),
      verify(signFile(JSON.stringify(forged), other)),
      verify('a letter\n'),
    ])
    expect(results.map(({ code, err }) => [code, err.trim()])).toEqual([
      [1, 'The file was changed after it was signed: its signature does not match.'],
      [1, 'The file is incomplete: its end is missing. Download it again.'],
      [1, 'The file is incomplete: its end is missing. Download it again.'],
      [1, `The file was signed with another key: ${other.fingerprint}.`],
      [1, 'The verdict of the proof does not follow from its parts.'],
      [1, 'The file is not a proof of Portreeve.'],
    ])
  })

  it('says what the destination lacks, what it has beside, and why', async () => {
    await addUser('ben')
    const [source, destination] = [accountOn(from.port, 'ben'), accountOn(to.port, 'ben')]
    await fill(destination, { INBOX: [{}] })
    await fill(source, { INBOX: [{}, {}, {}, {}, {}], Archive: [{}], Private: [{}, {}] })
    const id = await migrate('ben', ['INBOX', 'Archive'])
    // The destination’s message was there first, so copies begin with UID 2.
    await inside(destination, async ({ wire }) => {
      for (const command of [
        'SELECT INBOX',
        'UID STORE 2 +FLAGS (\\Deleted)',
        'UID EXPUNGE 2',
        'UID MOVE 3 Archive',
        'UID STORE 4 +FLAGS (\\Seen)',
      ])
        await wire.run([command])
    })
    await inside(source, async ({ wire }) => {
      for (const command of ['SELECT INBOX', 'UID STORE 5 +FLAGS (\\Deleted)', 'UID EXPUNGE 5'])
        await wire.run([command])
    })
    await fill(destination, { INBOX: [{}] })
    await fill(source, { INBOX: [{}] })
    const { proof } = await prove(id, 'full')
    expect(proof).toMatchObject({
      verdict: 'incomplete',
      leftOut: expect.arrayContaining([{ folder: 'Private', messages: 2 }]),
      changes: [
        { reason: 'flags', messages: 1 },
        { reason: 'folder', messages: 1 },
      ],
      missing: [
        { reason: 'deleted_at_destination', messages: 1 },
        { reason: 'not_copied_yet', messages: 1 },
      ],
      missingMessages: [
        { folder: 'INBOX', uid: 1, reason: 'deleted_at_destination' },
        { folder: 'INBOX', uid: 6, reason: 'not_copied_yet' },
      ],
      totals: { source: { messages: 6 }, kept: { messages: 3 }, elsewhere: 1, missing: 2 },
    })
    expect(new Map(proof.additional.map((each) => [each.reason, each.messages]))).toEqual(
      new Map([
        ['arrived_there', 1],
        ['no_longer_at_source', 1],
        ['of_other_folder', 1],
        ['there_before', 1],
      ]),
    )
  })
})
