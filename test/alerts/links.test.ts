import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startAlerts, type Person, type AlertsTest } from './module.ts'

const sourceOf = (file: string) => readFileSync(file, 'utf8')
const raisers = globSync('src/**/*.ts')
  .map(sourceOf)
  .filter((source) => source.includes("/raise.ts'"))
const foundBy = (pattern: RegExp) =>
  raisers.flatMap((source) => [...source.matchAll(pattern)].map(([, path = '']) => path))

describe('the link of every kind of alert', () => {
  const paths = foundBy(/^ +path: ['`](\/.*)['`],$/gm)
  const screens = [
    ...sourceOf('web/src/routes.tsx').matchAll(/(?:open|own)Screen\(\s*'([^']+)'/g),
  ].map(([, path]) => path)

  it('is a literal in the source', () => {
    expect(paths).not.toEqual([])
    // The end of a snooze has the path of its incident, and alerts of a cut-over, a mailbox or backups share theirs.
    const keys = foundBy(
      /^ +key(?:: (?!`(?:snooze-ended|cutover|backup\.working|\$\{about|dmarc\.mailbox \$\{row\.id\} sign-in)|string)(.*)|,$)/gm,
    )
    expect(paths).toHaveLength(keys.length)
  })
  it.each(paths)('leads to a page of the dashboard, with IDs and domains only: %s', (path) => {
    const ids = path.replaceAll(/\$\{(?:\w+\.)?(?:id|\w+Id)\}/g, '$id')
    expect(screens).toContain(ids.replace('/domains/${domain}', '/domains/$domain'))
  })
})

describe('the link of an alert', () => {
  let database: FreshDatabase
  let portreeve: AlertsTest
  let alice: Person
  beforeAll(async () => {
    database = await freshDatabase()
    portreeve = await startAlerts(database.url, { works: false })
  })
  beforeEach(async () => {
    alice = await portreeve.addPerson('Alice')
  })
  afterAll(async () => {
    await portreeve.stop()
    await database.drop()
  })
  const shown = async () =>
    (await portreeve.call<{ alerts: { url: string | null }[] }>(alice.token, 'GET', 'alerts')).json
      .data.alerts

  it('is an absolute URL with the workspace, and null for alerts older than links', async () => {
    await portreeve.raise(alice.id, 'one.test', { path: '/dmarc/mailboxes' })
    const [alert] = await shown()
    expect(alert).toMatchObject({
      title: 'one.test is listed',
      url: `http://portreeve.test/dmarc/mailboxes?workspace=${alice.id}`,
    })
    expect(alert).not.toHaveProperty('path')
    await portreeve.db.updateTable('alert').set({ path: '' }).execute()
    expect(await shown()).toMatchObject([{ url: null }])
  })

  it('may hold the name of a domain', async () => {
    const path = '/domains/xn--mller-kva._mail.example.co.uk'
    await portreeve.raise(alice.id, 'one.test', { path })
    expect(await shown()).toMatchObject([
      { url: `http://portreeve.test${path}?workspace=${alice.id}` },
    ])
  })

  it.each([
    '//evil.test',
    '/evil.',
    '/a..b',
    '/.evil/a',
    '.evil.test',
    '@evil.test',
    'https://evil.test',
    '/a?next=b',
    '/a b',
    '/a\n',
    '/..',
    '/',
  ])('never holds what a stranger may have chosen: %j', async (path) => {
    await expect(portreeve.raise(alice.id, 'one.test', { path })).rejects.toThrow(
      'alert_path_check',
    )
    expect(await shown()).toEqual([])
  })
})
