import { chmodSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { startEmbedded } from '../../src/store/embedded.ts'
import { startAccounts, type AccountsTest } from '../accounts/module.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { runInProcess, runPortreeve } from './command.ts'

const PASSWORD = 'a password from a pipe'

let database: FreshDatabase
let portreeve: AccountsTest
let env: Record<string, string>

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url)
  env = { DATABASE_URL: database.url, DEFAULT_PLAN: 'starter' }
})

afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

const create = (words: string[], input = PASSWORD) =>
  runInProcess(['user', 'create', '--password-stdin', ...words], env, { input })

describe('portreeve user', () => {
  it('prints the setup link while there is no account', async () => {
    const link = () => runInProcess(['user', 'setup-link'], env)
    const { code, out } = await link()
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^http:\/\/localhost:8080\/setup#\S+\n$/),
    ])
    expect((await link()).out).toBe(out)
  })

  it('creates a first administrator who can sign in', async () => {
    const words = ['--email', 'Alice@People.Test', '--name', 'Alice', '--admin', '--json']
    const made = await runPortreeve(
      ['user', 'create', '--password-stdin', ...words],
      env,
      `${PASSWORD}\n`,
    )
    expect(made).toMatchObject({ code: 0, err: '' })
    expect(await runInProcess(['user', 'setup-link'], env)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('portreeve user reset-link EMAIL'),
    })
    const { data } = JSON.parse(made.out) as { data: { id: string } }
    expect(data).toMatchObject({
      email: 'alice@people.test',
      name: 'Alice',
      plan: 'enterprise',
      admin: true,
    })
    const cookie = await portreeve.signIn({
      ...data,
      email: 'alice@people.test',
      password: PASSWORD,
      token: '',
    })
    expect(await (await portreeve.request('/api/v1/account', { cookie })).json()).toMatchObject({
      data: { admin: true },
    })
  })

  it('names an empty standard input, as of docker exec without -i', async () => {
    expect(await create(['--email', 'zoe@people.test'], '')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^Error: standard input is empty: .*need -i/),
    })
  })

  it('creates ordinary accounts with the default plan or the given one', async () => {
    expect((await create(['--email', 'bob@people.test'])).out).toBe(
      'Created account bob@people.test with plan starter.\n',
    )
    const charlie = await create(['--email', 'charlie@people.test', '--plan', 'pro', '--json'])
    expect(JSON.parse(charlie.out)).toMatchObject({ data: { plan: 'pro', admin: false } })
  })

  it('lists the accounts', async () => {
    const { out, code } = await runPortreeve(['user', 'list'], env)
    expect(code).toBe(0)
    expect(out.split('\n')[0]).toMatch(/^alice@people\.test +enterprise +admin +\d{4}-.*Z +Alice$/)
    const json = JSON.parse((await runInProcess(['user', 'list', '--json'], env)).out) as {
      data: { email: string }[]
    }
    expect(json.data.map(({ email }) => email)).toEqual(
      ['alice', 'bob', 'charlie'].map((name) => `${name}@people.test`),
    )
  })

  it('is recorded in the audit log, without passwords', async () => {
    const acts = portreeve.db
      .selectFrom('auditEntry')
      .select(['actorId', 'actorEmail', 'what', 'route', 'details'])
    const email = 'eve@people.test'
    await create(['--email', email])
    await runInProcess(['user', 'set-password', email, '--password-stdin'], env, {
      input: 'another from a pipe',
    })
    await runInProcess(['user', 'set-plan', email, 'pro'], env)
    const who = { actorId: null, actorEmail: 'command line' }
    const account = { account: email }
    expect((await acts.orderBy('id', 'desc').limit(3).execute()).toReversed()).toEqual([
      {
        ...who,
        what: 'Create an account',
        route: 'portreeve user create',
        details: { ...account, plan: 'starter', admin: false },
      },
      {
        ...who,
        what: 'Change the password of an account',
        route: 'portreeve user set-password',
        details: account,
      },
      {
        ...who,
        what: 'Change the plan of an account',
        route: 'portreeve user set-plan',
        details: { ...account, plan: 'pro' },
      },
    ])
    await runInProcess(['user', 'set-plan', 'nobody@people.test', 'pro'], env)
    expect((await acts.orderBy('id', 'desc').limit(1).executeTakeFirst())?.details).toMatchObject(
      account,
    )
    await portreeve.db.deleteFrom('account').where('email', '=', email).execute()
  })

  it('changes a plan, in the running service at once', async () => {
    const { token } = await portreeve.addPerson('Dora')
    const plan = async () =>
      (
        (await (await portreeve.request('/api/v1/account', { token })).json()) as {
          data: { plan: string }
        }
      ).data.plan
    expect(await plan()).toBe('free')
    const { code, out } = await runInProcess(
      ['user', 'set-plan', 'Dora@people.test', 'business'],
      env,
    )
    expect([code, out]).toEqual([0, 'dora@people.test now has plan business.\n'])
    await expect.poll(plan).toBe('business')
    const named = await runInProcess(
      ['user', 'set-plan', '--plan', 'pro', '--email', 'dora@people.test'],
      env,
    )
    expect(named.code).toBe(0)
    await expect.poll(plan).toBe('pro')
  })

  it('changes a password, which ends sessions and keeps tokens', async () => {
    const erin = await portreeve.addPerson('Erin')
    const cookie = await portreeve.signIn(erin)
    const changed = await runInProcess(
      ['user', 'set-password', erin.email, '--password-stdin'],
      env,
      { input: 'another password' },
    )
    expect(changed).toMatchObject({
      code: 0,
      out: `Changed the password of ${erin.email} and ended its sessions.\n`,
    })
    expect((await portreeve.request('/api/v1/account', { cookie })).status).toBe(401)
    expect((await portreeve.request('/api/v1/account', { token: erin.token })).status).toBe(200)
    await expect(portreeve.signIn(erin)).rejects.toThrow()
    expect(await portreeve.signIn({ ...erin, password: 'another password' })).toContain(
      'session_token',
    )
  })

  it('brings people back who lost their password, phone or mailbox', async () => {
    const juno = await portreeve.addPerson('Juno')
    const user = (...words: string[]) => runInProcess(['user', ...words], env)
    const link = await user('reset-link', juno.email)
    expect(link).toMatchObject({ code: 0, err: '' })
    expect(link.out).toMatch(/^http:\/\/localhost:8080\/reset-password#v1\.\S+\n$/)
    expect((await user('reset-2fa', juno.email)).out).toContain('ended its sessions')
    expect((await user('set-email', juno.email, 'Juno.New@people.test')).out).toContain(
      'juno.new@people.test',
    )
    expect(await user('set-email', juno.email, 'x@people.test')).toMatchObject({ code: 1 })
    expect(await user('set-email', 'juno.new@people.test')).toMatchObject({ code: 2 })
    expect(await user('link-oidc', 'juno.new@people.test', 'subject')).toMatchObject({ code: 1 })
  })

  it('disables an account, which the list shows, and enables it', async () => {
    const kurt = await portreeve.addPerson('Kurt')
    const cookie = await portreeve.signIn(kurt)
    const status = async (how: object) => (await portreeve.request('/api/v1/account', how)).status
    expect(await runInProcess(['user', 'disable', kurt.email], env)).toMatchObject({ code: 0 })
    expect(await status({ cookie })).toBe(401)
    await expect.poll(() => status({ token: kurt.token })).toBe(401)
    const { out } = await runInProcess(['user', 'list'], env)
    expect(out).toMatch(/^kurt@people\.test .*disabled/m)
    await runInProcess(['user', 'enable', kurt.email], env)
    await expect.poll(() => status({ token: kurt.token })).toBe(200)
  })

  it('reports failures with exit code 1, and usage errors with 2', async () => {
    const taken = await runPortreeve(
      ['user', 'create', '--password-stdin', '--email', 'bob@people.test'],
      env,
      PASSWORD,
    )
    expect([taken.code, taken.out, taken.err]).toEqual([
      1,
      '',
      'Error: An account with the email bob@people.test already exists.\n',
    ])
    expect((await runInProcess(['user', 'set-plan', 'nobody@people.test', 'pro'], env)).code).toBe(
      1,
    )
    for (const words of [
      ['user'],
      ['user', 'destroy'],
      ['user', 'create', '--email', 'x@people.test'],
      ['user', 'set-plan', 'bob@people.test'],
      ['user', 'set-plan', 'bob@people.test', 'platinum'],
      ['user', 'list', '--colour'],
      ['token', 'make'],
      ['token', 'create'],
    ]) {
      const { code, out, err } = await runInProcess(words, env)
      expect([words, code, out]).toEqual([words, 2, ''])
      expect(err).toMatch(/^Error: .+\.(?: Did you mean \S+\?)? Try: .+\n$/)
    }
  })

  it('rejects a short password without printing it', async () => {
    const { code, out, err } = await create(['--email', 'eve@people.test'], 'hunter2')
    expect(code).toBe(2)
    expect(err).toContain('password must have 10 to 128 characters')
    expect(out + err).not.toContain('hunter2')
  })
})

describe('portreeve token create', () => {
  it('prints a token that works, alone on one line', async () => {
    const { out, err, code } = await runPortreeve(
      ['token', 'create', '--email', 'bob@people.test', '--label', 'ci'],
      env,
    )
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^prv_[A-Za-z0-9]{46}\n$/)
    const me = await portreeve.request('/api/v1/account', { token: out.trim() })
    expect(await me.json()).toMatchObject({ data: { email: 'bob@people.test', via: 'token' } })
  })

  it('limits a token to scopes and a time, lists it, and revokes it at once', async () => {
    const owner = ['--email', 'bob@people.test']
    const limits = ['--scope', 'workspace:read', '--scope', 'alerts:read', '--expires', '30']
    const made = await runInProcess(['token', 'create', ...owner, ...limits, '--json'], env)
    const { token, id } = JSON.parse(made.out) as { token: string; id: string }
    const ask = async (method: string, path: string) =>
      (await portreeve.request(path, { token, method })).status
    expect(await ask('GET', '/api/v1/tokens')).toBe(200)
    expect(await ask('DELETE', `/api/v1/tokens/${id}`)).toBe(403)
    const listed = await runInProcess(['token', 'list', ...owner], env)
    expect(listed.out).toMatch(
      new RegExp(`^${id}  ….{4}  alerts:read,workspace:read  expires `, 'm'),
    )
    expect((await runInProcess(['token', 'revoke', id], env)).code).toBe(0)
    expect(await ask('GET', '/api/v1/tokens')).toBe(401)
    expect((await runInProcess(['token', 'revoke', id], env)).code).toBe(1)
  })

  it('rejects a scope and an expiry that do not exist, and creates nothing', async () => {
    for (const wrong of [
      ['--scope', 'dmarc:delete'],
      ['--expires', '31'],
      ['--workspace', 'first'],
    ])
      expect(
        (await runInProcess(['token', 'create', '--email', 'bob@people.test', ...wrong], env)).code,
      ).toBe(2)
  })

  it('reports an unknown account', async () => {
    const { out, code } = await runInProcess(
      ['token', 'create', '--email', 'nobody@people.test', '--json'],
      env,
    )
    expect([code, JSON.parse(out)]).toMatchObject([1, { success: false, code: 'not_found' }])
  })
})

describe('with the embedded database', () => {
  it('reports a missing database instead of creating one for a query', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-cli-'))
    const { code, err } = await runInProcess(['token', 'create', '--email', 'a@people.test'], {
      DATA_DIR: folder,
    })
    expect([code, err]).toEqual([1, expect.stringContaining(`No database found in ${folder}.`)])
    expect(readdirSync(folder)).toEqual([])
    rmSync(folder, { recursive: true })
  })

  it('finds a database whose upgrade was interrupted before its last step, as the service does', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'portreeve-cli-'))
    chmodSync(dataDir, 0o755)
    const settings = { DATA_DIR: dataDir }
    await runInProcess(
      ['user', 'create', '--email', 'a@people.test', '--password-stdin'],
      settings,
      { input: PASSWORD },
    )
    renameSync(join(dataDir, 'postgres'), join(dataDir, 'postgres.upgraded'))
    const { code, out } = await runInProcess(['user', 'list'], settings)
    expect([code, out]).toEqual([0, expect.stringMatching(/^a@people\.test /)])
    expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres'))).toEqual([
      'postgres',
      'postgres.lock',
    ])
    rmSync(dataDir, { recursive: true })
  })

  it('works while the service does not run, and beside it while it does', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'portreeve-cli-'))
    chmodSync(dataDir, 0o755)
    const settings = { DATA_DIR: dataDir }
    const made = await runPortreeve(
      ['user', 'create', '--email', 'a@people.test', '--password-stdin'],
      settings,
      PASSWORD,
    )
    expect(made).toMatchObject({ code: 0, out: 'Created account a@people.test with plan free.\n' })

    const server = await startEmbedded({ dataDir, log: createLog('silent') })
    const { code, out } = await runInProcess(
      ['token', 'create', '--email', 'a@people.test'],
      settings,
    )
    expect(code).toBe(0)
    const beside = await startAccounts(server.url)
    expect((await beside.request('/api/v1/account', { token: out.trim() })).status).toBe(200)
    await beside.stop()
    await server.stop()
    rmSync(dataDir, { recursive: true })
  })
})
