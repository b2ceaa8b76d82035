import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, fill, inside, read } from './mailbox.ts'
import { migrate } from './run.ts'

/** Lets an account take its own rights to a folder. */
const WITH_RIGHTS = `mail_plugins = acl
plugin {
  acl = vfile
}
protocol imap {
  mail_plugins = acl imap_acl
}`

describe('folders that the source does not open', () => {
  let server: MailServer
  let users = 0

  beforeAll(async () => {
    server = await startDovecot({ extra: WITH_RIGHTS })
  })
  afterAll(() => server.stop())

  async function account() {
    const user = `user${(users += 1)}`
    await server.addUser(user, 'secret')
    return { port: server.port, user }
  }
  const foldersOf = async ({ port, user }: { port: number; user: string }) =>
    Object.keys(await read(accountOn(port, user))).toSorted()
  async function run({ port, user }: { port: number; user: string }, ...commands: string[]) {
    await inside(accountOn(port, user), async ({ wire }) => {
      for (const command of commands) await wire.run([command])
    })
  }

  it('are not created: 198 of 200 do not exist, and neither does their parent', async () => {
    const [here, there] = [await account(), await account()]
    await fill(accountOn(here.port, here.user), { Archive: [{}], Trash: [{}, {}] })
    const missing = Array.from({ length: 198 }, (_, index) => `Fehlt/${index}`)
    const result = await migrate(here, there, {
      folders: ['Archive', ...missing, 'Trash'],
      folderMap: { 'Fehlt/1': 'Mapped/to/here' },
      specialUse: true,
      subscribe: 'all',
    })
    expect(result).toMatchObject({
      state: 'failed',
      stopped: null,
      progress: { errorCount: 198, foldersDone: 200, messagesDone: 3, messagesTotal: 3 },
    })
    expect(result.failures.map(({ folder }) => folder).toSorted()).toEqual(missing.toSorted())
    expect(new Set(result.failures.map(({ code }) => code))).toEqual(new Set(['no_such_mailbox']))
    expect(await foldersOf(there)).toEqual(['Archive', 'INBOX', 'Trash'])
    const listed: string[] = []
    await inside(accountOn(there.port, there.user), async ({ wire }) => {
      const data = (values: unknown[]) =>
        ['LIST', 'LSUB'].includes(String(values[0])) && listed.push(String(values[3])) > 0
      for (const verb of ['LIST', 'LSUB']) await wire.run([`${verb} "" "*"`], { data })
    })
    expect(new Set(listed)).toEqual(new Set(['Archive', 'INBOX', 'Trash']))
  })

  it('are not created where access rights forbid to open them', async () => {
    const [here, there] = [await account(), await account()]
    await fill(accountOn(here.port, here.user), { Open: [{}], Locked: [{}], 'Locked/below': [{}] })
    await run(here, `SETACL Locked ${here.user} l`, `SETACL Locked/below ${here.user} l`)
    const result = await migrate(here, there, { folders: ['Open', 'Locked', 'Locked/below'] })
    expect(result.failures.map(({ folder, code }) => `${folder}: ${code}`).toSorted()).toEqual([
      'Locked/below: not_permitted',
      'Locked: not_permitted',
    ])
    expect(await foldersOf(there)).toEqual(['INBOX', 'Open'])
  })

  it('are not created again by a later run or pass, once both sides have deleted them', async () => {
    const [here, there] = [await account(), await account()]
    await fill(accountOn(here.port, here.user), { Stays: [{}], 'Goes/later': [{}] })
    const journal = createMemoryJournal()
    const folders = ['Stays', 'Goes/later']
    expect(await migrate(here, there, { folders, journal })).toMatchObject({ state: 'completed' })
    for (const side of [here, there]) await run(side, 'DELETE Goes/later')
    await run(there, 'UNSUBSCRIBE Goes/later')
    for (const options of [{}, { withNewMail: true }, { sync: { deletions: 'apply' as const } }]) {
      const result = await migrate(here, there, { folders, journal, ...options })
      expect(result.failures.at(-1)).toMatchObject({ folder: 'Goes/later', uid: null })
      expect(await foldersOf(there)).toEqual(['INBOX', 'Stays'])
    }
  })

  it('are not created by a folder of the same destination that is created later', async () => {
    const [here, there] = [await account(), await account()]
    await fill(accountOn(here.port, here.user), { One: [{}], Two: [{}, {}] })
    const folderMap = { One: 'All', Two: 'All', Missing: 'All', Other: 'None' }
    const result = await migrate(here, there, {
      folders: ['Missing', 'One', 'Two', 'Other'],
      folderMap,
    })
    expect(result.failures.map(({ folder }) => folder).toSorted()).toEqual(['Missing', 'Other'])
    expect((await read(accountOn(there.port, there.user)))['All']).toHaveLength(3)
    expect(await foldersOf(there)).toEqual(['All', 'INBOX'])
  })
})
