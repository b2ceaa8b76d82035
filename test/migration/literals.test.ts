import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { discardsRejectedLiterals } from '../../src/net/imap/append/literal-probe.ts'
import { listFolders } from '../../src/net/imap/folders/list-folders.ts'
import { startCyrus } from '../servers/cyrus.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, contents, fill, inside, mail, read } from './mailbox.ts'
import { migrate } from './run.ts'
import { startTamper } from './tamper.ts'

describe('literals of a migration', () => {
  let from: MailServer
  let to: MailServer
  let users = 0

  beforeAll(async () => {
    ;[from, to] = await Promise.all([startDovecot(), startDovecot()])
  })
  afterAll(async () => {
    await Promise.all([from.stop(), to.stop()])
  })

  const FOLDERS = ['INBOX', 'A', 'B', 'C', 'D', 'E']

  async function person(): Promise<string> {
    const user = `user${(users += 1)}`
    await Promise.all([from.addUser(user, 'secret'), to.addUser(user, 'secret')])
    const letters = FOLDERS.map((folder) => [folder, [{ body: mail(400) }]])
    await fill(accountOn(from.port, user), Object.fromEntries(letters))
    return user
  }

  /** Copies everything through a server of which a test decides how it answers the probe. */
  async function copyThrough(onProbe: (tag: string) => string[] | null) {
    const user = await person()
    const waits: boolean[] = []
    const tamper = await startTamper(to.port, {
      toServer(text, { answer }) {
        const [, tag, folder] = /^(P\d+) APPEND "([^"]+)"/.exec(text) ?? []
        if (tag === undefined) return
        if (folder?.startsWith('portreeve-probe')) onProbe(tag)?.forEach(answer)
        else waits.push(!/\{\d+\+\}\r\n/.test(text))
      },
    })
    onTestFinished(() => tamper.close())
    const { state, failures } = await migrate(
      { port: from.port, user },
      { port: tamper.port, user },
    )
    expect([state, failures]).toEqual(['completed', []])
    const [here, there] = [
      await read(accountOn(from.port, user)),
      await read(accountOn(to.port, user)),
    ]
    expect(Object.keys(there).toSorted()).toEqual(Object.keys(here).toSorted())
    for (const folder of FOLDERS) expect(contents(there[folder])).toEqual(contents(here[folder]))
    return waits
  }

  it('are sent without waiting where the server discards them with a rejected command', async () => {
    const waits = await copyThrough(() => null)
    // The first message proves how its header is read.
    expect(waits).toEqual([true, false, false, false, false, false])
  })

  it('wait in every folder where the server gives no such proof', async () => {
    const isStored = await copyThrough((tag) => [`${tag} OK [APPENDUID 1 1] Append completed`])
    expect(isStored).toEqual(FOLDERS.map(() => true))
  })

  it.each([
    ['after its answer', (tag: string) => [`${tag} NO [TRYCREATE] No such mailbox`, 'P0 OK Done']],
    ['with BAD', (tag: string) => [`${tag} BAD Invalid arguments`]],
  ])(
    'always wait after a server read a literal as commands (%s), and nothing is lost',
    async (_, answers) => {
      const waits = await copyThrough(answers)
      expect(waits.length).toBeGreaterThanOrEqual(FOLDERS.length)
      expect(waits.every(Boolean)).toBe(true)
    },
  )

  it('are discarded by Dovecot and Cyrus, which keep nothing of the probe', async () => {
    const cyrus = await startCyrus()
    onTestFinished(() => cyrus.stop())
    for (const server of [to, cyrus]) {
      const user = `probe${(users += 1)}`
      await server.addUser(user, 'secret')
      await inside(accountOn(server.port, user), async (session) => {
        expect(await discardsRejectedLiterals(session.wire)).toBe(true)
        const { folders } = await listFolders(session)
        expect(folders.map(({ path }) => path)).toEqual(['INBOX'])
      })
    }
  })
})
