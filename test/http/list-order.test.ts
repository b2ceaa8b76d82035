import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertProcess } from '../../src/delisting/delistings.sql.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { aggregate, daysAgo } from '../dmarc/reports.ts'
import { storeMigration } from '../migration/stored.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

const NOW = new Date().toISOString()
let portreeve: TestService
let database: Database
let alice: Person
let bob: Person
let reports: string

beforeAll(async () => {
  portreeve = await startTestService()
  database = openDatabase(portreeve.databaseUrl)
  alice = await portreeve.addPerson('Alice', { admin: true })
  bob = await portreeve.addPerson('Bob', { plan: 'business' })
  const { id: workspaceId } = alice
  await storeMigration(database.db, workspaceId, 'carol', {
    status: 'failed',
    done: 10,
    total: 100,
  })
  await storeMigration(database.db, workspaceId, 'Anna', {
    status: 'completed',
    done: 50,
    total: 50,
  })
  await storeMigration(database.db, workspaceId, 'bert', {
    status: 'completed',
    done: 30,
    total: 60,
  })
  await storeMigration(database.db, bob.id, 'bob', { status: 'completed', done: 1, total: 1 })
  await addDelisting('9.9.9.9', 'in-progress')
  await addDelisting('10.1.1.1', 'completed')
  await addDelisting('8.8.8.8', 'failed')
  reports = await storeReports()
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
})

/** Adds a delisting with one step, completed or not. */
async function addDelisting(ip: string, status: string): Promise<void> {
  const { db } = database
  const blank = { cause: null, fix: null, relistedAfter: null, reverseDns: null }
  const process = {
    ...blank,
    workspaceId: alice.id,
    ip,
    askedCount: 9,
    unknownCount: 0,
    createdAt: NOW,
  }
  const processId = await insertProcess(db, { ...process, notPursued: [] } as never)
  await db.updateTable('delistingProcess').set({ status }).where('id', '=', processId).execute()
  const answer = { status: 'listed', at: NOW, codes: [], meanings: [], reason: null, detail: null }
  const answers = JSON.stringify({ ...answer, health: 'ok' })
  await db
    .insertInto('delistingStep')
    .values({
      processId,
      rank: 0,
      zone: 'bl.test',
      name: 'One',
      category: 'major',
      method: 'form',
      plan: '{}',
      status: status === 'completed' ? 'completed' : 'waiting',
      confirmed: true,
      firstAnswer: answers,
      lastAnswer: answers,
    })
    .execute()
}

/** @returns the path of the list of three reports */
async function storeReports(): Promise<string> {
  const { data } = await ask('/api/v1/dmarc/domains', { body: { domain: 'example.test' } })
  const fail = { dkim: 'fail', spf: 'fail' } as const
  for (const report of [
    aggregate({ org: 'beta.test', begin: daysAgo(3), rows: [{ count: 9 }] }),
    aggregate({ org: 'Alpha.test', begin: daysAgo(1), rows: [{ count: 5, ...fail }] }),
    aggregate({ org: 'gamma.test', begin: daysAgo(2), rows: [{ count: 7 }, fail] }),
  ]) {
    const form = new FormData()
    form.append('file', new Blob([report]), 'report.xml')
    const { data: stored } = await ask('/api/v1/dmarc/reports', { body: form })
    expect(stored).toMatchObject({ stored: 1 })
  }
  return `/api/v1/dmarc/domains/${data.id}/reports`
}

// oxlint-disable-next-line typescript/no-explicit-any -- lists of four shapes
type Answer = any
type Asked = { token?: string; body?: object | FormData; status?: number }

async function ask(
  path: string,
  { token = alice.token, body, status = 0 }: Asked = {},
): Promise<Answer> {
  const isForm = body instanceof FormData
  const response = await portreeve.request(path, {
    token,
    ...(body && { method: 'POST', body: isForm ? body : JSON.stringify(body) }),
    ...(body && !isForm && { headers: { 'content-type': 'application/json' } }),
  })
  if (status > 0) expect(response.status).toBe(status)
  return response.json()
}

/** Reads a list page by page, two rows each. */
async function names(path: string, rows: string, nameOf: (row: never) => string) {
  const found: string[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { data } = await ask(`${path}&limit=2&page=${page}`)
    pages = data.pagination.totalPages
    found.push(...data[rows].map(nameOf))
  }
  return found
}

const migrations = (query: string) =>
  names(`/api/v1/imap/migrations?${query}`, 'migrations', ({ srcUser }: { srcUser: string }) =>
    srcUser.replace('@old.test', ''),
  )
const delistings = (query: string) =>
  names(`/api/v1/delisting/status?${query}`, 'processes', ({ ip }: { ip: string }) => ip)
const accounts = (query: string) =>
  names(`/api/v1/accounts?${query}`, 'accounts', ({ email }: { email: string }) => email)
const reporters = (query: string) =>
  names(`${reports}?${query}`, 'reports', ({ orgName }: { orgName: string }) => orgName)

describe('lists in an order', () => {
  it.each([
    ['sort=createdAt', ['carol', 'Anna', 'bert']],
    ['', ['bert', 'Anna', 'carol']],
    ['sort=srcUser', ['Anna', 'bert', 'carol']],
    ['sort=-progress', ['Anna', 'bert', 'carol']],
    ['sort=-status', ['carol', 'bert', 'Anna']],
  ])('orders migrations by “%s”, across pages', async (query, expected) => {
    expect(await migrations(query)).toEqual(expected)
  })

  it.each([
    ['sort=createdAt', ['9.9.9.9', '10.1.1.1', '8.8.8.8']],
    ['sort=ip', ['8.8.8.8', '9.9.9.9', '10.1.1.1']],
    ['sort=-stepsCompleted', ['10.1.1.1', '8.8.8.8', '9.9.9.9']],
    ['sort=status', ['10.1.1.1', '8.8.8.8', '9.9.9.9']],
  ])('orders delistings by “%s”', async (query, expected) => {
    expect(await delistings(query)).toEqual(expected)
  })

  it.each([
    ['', ['gamma.test', 'Alpha.test', 'beta.test']],
    ['sort=orgName', ['Alpha.test', 'beta.test', 'gamma.test']],
    ['sort=begin', ['beta.test', 'gamma.test', 'Alpha.test']],
    ['sort=-messages', ['beta.test', 'gamma.test', 'Alpha.test']],
    ['sort=-fail', ['Alpha.test', 'gamma.test', 'beta.test']],
    ['sort=fail&result=fail', ['gamma.test', 'Alpha.test']],
  ])('orders DMARC reports by “%s”', async (query, expected) => {
    expect(await reporters(query)).toEqual(expected)
  })

  it.each([
    ['', ['alice@people.test', 'bob@people.test']],
    ['sort=-email', ['bob@people.test', 'alice@people.test']],
    ['sort=-admin', ['alice@people.test', 'bob@people.test']],
    ['sort=plan', ['bob@people.test', 'alice@people.test']],
  ])('orders accounts by “%s”', async (query, expected) => {
    expect(await accounts(query)).toEqual(expected)
    const { data: usage } = await ask(`/api/v1/accounts/usage?${query}`)
    const { data } = await ask(`/api/v1/accounts?${query}`)
    expect(usage.accounts.map(({ accountId }: { accountId: string }) => accountId)).toEqual(
      data.accounts.map(({ id }: { id: string }) => id),
    )
  })

  it('names the columns when asked for another', async () => {
    const { error } = await ask('/api/v1/imap/migrations?sort=password', { status: 400 })
    expect(error).toContain('createdAt,-createdAt,srcUser')
  })
})

describe('a search in a list', () => {
  it.each([
    ['anna', ['Anna']],
    ['IMAP.OLD completed', ['bert', 'Anna']],
    ['completed bert', ['bert']],
    ['%', []],
    ["' or 1=1 --", []],
    ['bob', []],
  ])('finds migrations by “%s”, of this workspace only', async (q, expected) => {
    expect(await migrations(new URLSearchParams({ q }).toString())).toEqual(expected)
  })

  it('finds accounts by email, name and plan', async () => {
    expect(await accounts('q=business+bob')).toEqual(['bob@people.test'])
    expect(await accounts('q=nobody')).toEqual([])
  })

  it('has a limit', async () => {
    await ask(`/api/v1/accounts?q=${'a'.repeat(101)}`, { status: 400 })
  })
})
