import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startAccounts, type AccountsTest } from '../accounts/module.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { PROGRAM, runInProcess } from './command.ts'
import { openTerminal, type Terminal } from './terminal.ts'

const PASSWORD = 'typed at a terminal'

let database: FreshDatabase
let portreeve: AccountsTest
let env: Record<string, string>
let terminal: Terminal | undefined

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url)
  env = { DATABASE_URL: database.url }
})
afterEach(() => {
  terminal?.close()
  terminal = undefined
})
afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

const open = (words: string) =>
  (terminal = openTerminal(`"${process.execPath}" "${PROGRAM}" ${words}`, { env }))

/** Waits for a prompt on the last line, and answers it. */
async function answer(prompt: RegExp, text: string): Promise<void> {
  await terminal?.until(new RegExp(`(?:^|\\n)${prompt.source} ?$`))
  if (text) terminal?.type(text)
  terminal?.press('Enter')
}

const signIn = (email: string, password: string) =>
  portreeve.signIn({ id: '', email, password, token: '' })

describe('portreeve user create at a terminal', { timeout: 120_000 }, () => {
  it('prompts for what is missing, again for what is invalid, and shows no password', async () => {
    const { history, until } = open('user create')
    await answer(/Email address:/, 'nonsense')
    await until(/Enter an email address such as alice@example\.com\./)
    await answer(/Email address:/, 'alice@people.test')
    await answer(/Password \(10 to 128 characters\):/, 'short')
    await until(/The password must have 10 to 128 characters\./)
    await answer(/Password \(10 to 128 characters\):/, PASSWORD)
    await answer(/Repeat the password:/, 'something else')
    await until(/The passwords differ\. Enter them again\./)
    await answer(/Password \(10 to 128 characters\):/, PASSWORD)
    await answer(/Repeat the password:/, PASSWORD)
    await answer(/Administrator\? \[y\/N\]:/, 'y')
    await until(/Created account alice@people\.test with plan enterprise\.\n\[exit 0\]/)
    for (const typed of [PASSWORD, 'short', 'something else'])
      expect(history()).not.toContain(typed)
    expect(await signIn('alice@people.test', PASSWORD)).toContain('session_token')
  })

  it('prompts for nothing that flags say', async () => {
    const { until } = open('user create --email bob@people.test --admin --plan pro')
    await answer(/Password \(10 to 128 characters\):/, PASSWORD)
    await answer(/Repeat the password:/, PASSWORD)
    await until(/Created account bob@people\.test with plan pro\.\n\[exit 0\]/)
  })

  it('changes nothing after Ctrl-C, which is exit code 130', async () => {
    const { until, press } = open('user create')
    await answer(/Email address:/, 'carol@people.test')
    await until(/Password \(10 to 128 characters\): ?$/)
    press('C-c')
    await until(/\[exit 130\]/)
    expect((await runInProcess(['user', 'list'], env)).out).not.toContain('carol')
  })

  it('prompts for a new password in set-password', async () => {
    const { until } = open('user set-password bob@people.test')
    await answer(/Password \(10 to 128 characters\):/, 'another one of his')
    await answer(/Repeat the password:/, 'another one of his')
    await until(/Changed the password of bob@people\.test and ended its sessions\.\n\[exit 0\]/)
    expect(await signIn('bob@people.test', 'another one of his')).toContain('session_token')
  })
})

describe('without a terminal', () => {
  it('names the missing flags', async () => {
    const { code, err } = await runInProcess(['user', 'create'], env)
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^Error: missing --email EMAIL\. Try: .*--password-stdin\n$/),
    ])
    const second = await runInProcess(['user', 'create', '--email', 'x@people.test'], env)
    expect([second.code, second.err]).toEqual([2, expect.stringContaining('--password-stdin')])
  })
})
