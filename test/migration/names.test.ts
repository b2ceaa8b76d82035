import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { splitPath, type Hierarchy } from '../../src/migration/engine/plan/mapping.ts'
import { createFolder } from '../../src/net/imap/folders/create-folder.ts'
import { encodeMailbox } from '../../src/net/imap/folders/mailbox-name.ts'
import { ImapRefused } from '../../src/net/imap/connection/refusals.ts'
import { startCourier } from '../servers/courier.ts'
import { startCyrus } from '../servers/cyrus.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, contents, fill, inside, mail, read, type Letter } from './mailbox.ts'
import { migrate } from './run.ts'
import { startTamper } from './tamper.ts'

/** Folder names that some servers reject or encode differently. */
const NASTY = [
  ['brace{3}'],
  ['brace{3+}'],
  ['open{'],
  ['a~b'],
  ['~home'],
  ['per%cent'],
  ['as*terisk'],
  ['quo"te'],
  ['back\\slash'],
  ['📬 post'],
  ['flags 🇩🇪', '👩‍👩‍👧'],
  ['caf\u00e9'],
  ['cafe\u0301'],
  ['日本語', 'Löbende'],
  ['R&D'],
  ['&-'],
  ['.dot'],
  ['dot.'],
  ['Dr. Jones'],
  ['sla/sh'],
  [' leading'],
  ['trailing '],
  ['#hash'],
  ['-dash'],
  ['(round)'],
  ['[square]'],
  ['pi|pe'],
  ['semi;colon'],
  ['excla!mation'],
  ['back`tick'],
  ['<angle>'],
  ['y'.repeat(180)],
  ['ü'.repeat(60)],
  ['INBOX', 'INBOX'],
  ['INBOX', 'sub'],
  ['Archive'],
  ['archive'],
  ['Kunden', 'Müller'],
]

/** The levels of a name, without a namespace below INBOX. */
function levelsOf(path: string, hierarchy: Hierarchy): string {
  const levels = splitPath(path, hierarchy)
  const isBelowInbox = levels[0] === 'INBOX' && levels.length > 1 && levels[1] !== 'INBOX'
  return (isBelowInbox ? levels.slice(1) : levels).join('\0')
}

type Server = { server: MailServer; hierarchy: Hierarchy }

describe('nasty names of folders', () => {
  const servers: Record<string, Server> = {}
  let users = 0

  beforeAll(async () => {
    const below: Hierarchy = { delimiter: '.', prefix: 'INBOX.' }
    const [dovecot, cyrus, courier] = await Promise.all([
      startDovecot(),
      startCyrus(),
      startCourier(),
    ])
    servers['Dovecot'] = { server: dovecot, hierarchy: { delimiter: '/', prefix: '' } }
    servers['Cyrus'] = { server: cyrus, hierarchy: below }
    servers['Courier'] = { server: courier, hierarchy: below }
  }, 120_000)
  afterAll(async () => {
    await Promise.all(Object.values(servers).map(async ({ server }) => server.stop()))
  })

  async function account({ server }: Server): Promise<{ port: number; user: string }> {
    const user = `user${(users += 1)}`
    await server.addUser(user, 'secret')
    return { port: server.port, user }
  }

  /** One message in each of the folders that the server lets us make. */
  async function fillAll(from: Server) {
    const { delimiter, prefix } = from.hierarchy
    const made = await account(from)
    const reached = accountOn(made.port, made.user)
    const paths = NASTY.filter(
      (levels) => !levels.some((name) => name.includes(delimiter ?? '')),
    ).map((levels) => prefix + levels.join(delimiter ?? ''))
    const folders: Record<string, Letter[]> = {}
    await inside(reached, async ({ wire }) => {
      for (const path of paths) {
        const isMade = await createFolder(wire, encodeMailbox(path)).catch((error: unknown) => {
          if (error instanceof ImapRefused) return null
          throw error
        })
        if (isMade !== null) folders[path] = [{ body: mail() }]
      }
    })
    await fill(reached, folders)
    return { ...made, paths: Object.keys(folders), stored: await read(reached) }
  }

  /** The filled account of each server: migrations only read it. */
  const filled = new Map<string, ReturnType<typeof fillAll>>()
  function accountWithAll(name: string): ReturnType<typeof fillAll> {
    const made = filled.get(name) ?? fillAll(servers[name] as Server)
    filled.set(name, made)
    return made
  }

  const pairs = ['Dovecot', 'Cyrus', 'Courier'].flatMap((from) =>
    ['Dovecot', 'Cyrus', 'Courier'].map((to) => [from, to] as const),
  )
  it.each(pairs)(
    'from %s to %s lose no message, and every change of a name is noted',
    { timeout: 120_000 },
    async (x, y) => {
      const [from, to] = [servers[x] as Server, servers[y] as Server]
      const [here, there] = [await accountWithAll(x), await account(to)]
      const { state, failures, progress, notes } = await migrate(here, there)
      expect([state, failures]).toEqual(['completed', []])
      const after = await read(accountOn(there.port, there.user))
      const noted = new Set(
        notes.filter(({ message }) => message.startsWith('It became')).map(({ folder }) => folder),
      )
      for (const path of here.paths) {
        const destination = progress.folderProgress[path]?.destination ?? ''
        expect([path, contents(after[destination])]).toEqual([path, contents(here.stored[path])])
        const isSame = levelsOf(path, from.hierarchy) === levelsOf(destination, to.hierarchy)
        expect(`${path} → ${destination} ${noted.has(path)}`).toBe(
          `${path} → ${destination} ${!isSame}`,
        )
      }
      expect(here.paths.length).toBeGreaterThan(20)
    },
  )

  it('names the folder that already had a name', async () => {
    const here = await account(servers['Dovecot'] as Server)
    await fill(accountOn(here.port, here.user), { 'Dr. Jones': [{}], 'Dr_ Jones': [{}] })
    const { notes } = await migrate(here, await account(servers['Courier'] as Server))
    const message =
      'It became “INBOX.Dr_ Jones_2”, because another folder goes to “INBOX.Dr_ Jones”.'
    expect(notes).toEqual([{ folder: 'Dr. Jones', message }])
  })
})

describe('folders of a source that rejects LIST', () => {
  it.each([
    ['has a namespace', /(\S+) (?:LIST|LSUB) "[^"]*" (?!"")[^\r]*/g, true],
    ['tells its delimiter alone', /(\S+) (?:LIST|LSUB) "[^"]*" (?!"")[^\r]*/g, false],
    ['tells nothing, but has the folder above', /(\S+) (?:LIST|LSUB) [^\r]*/g, false],
  ])('keep their levels where it %s', async (_, refused, hasNamespace) => {
    const capability = `IMAP4rev1 LITERAL+ UIDPLUS${hasNamespace ? ' NAMESPACE' : ''}`
    const [from, to] = await Promise.all([startDovecot({ capability }), startCyrus()])
    onTestFinished(async () => void (await Promise.all([from.stop(), to.stop()])))
    for (const server of [from, to]) await server.addUser('alice', 'secret')
    await fill(accountOn(from.port), {
      Kunden: [{}],
      'Kunden/Müller': [{}, {}],
      'Kunden/M.S.': [{}],
      'a/b': [{}],
    })
    const refusing = await startTamper(from.port, {
      toServer: (text, { instead }) => instead(text.replace(refused, '$1 XREFUSED')),
    })
    onTestFinished(() => refusing.close())
    const folders = ['Kunden/Müller', 'Kunden/M.S.', 'a/b']
    const { state, failures, notes } = await migrate(refusing, to, { folders })
    expect([state, failures]).toEqual(['completed', []])
    const there = await read(accountOn(to.port))
    expect(there['INBOX.Kunden.Müller']).toHaveLength(2)
    expect(there['INBOX.Kunden.M_S_']).toHaveLength(1)
    expect(there['INBOX.a.b']).toHaveLength(1)
    expect(notes).toEqual([{ folder: 'Kunden/M.S.', message: 'It became “INBOX.Kunden.M_S_”.' }])
  })
})
