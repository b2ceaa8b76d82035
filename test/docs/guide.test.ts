import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ALERT_KINDS } from '../../scripts/alert-kinds.ts'
import { renderGuide } from '../../scripts/guide.ts'
import { referencePages } from '../../scripts/reference.ts'
import { ROOT } from '../../src/version.ts'
import { findMoved, findSections } from '../../web/src/guide/find-sections.ts'

const pages = renderGuide()
const byUrl = new Map(pages.map((page) => [page.url, page]))
const docs = pages.filter(({ source }) => source.startsWith('docs/'))

/** What a newcomer types into the search, and a page that answers it. */
const QUESTIONS: [question: string, page: string][] = [
  ['how do I back up', 'backups.html'],
  ['restore a backup', 'backups.html'],
  ['reverse proxy', 'reverse-proxy.html'],
  ['forgot password', 'accounts.html'],
  ['reset two factor', 'accounts.html'],
  ['first dmarc report', 'tutorial.html'],
  ['no reports arrive', 'dmarc.html'],
  ['blocklist refuses my resolver', 'resolvers.html'],
  ['gmail all mail', 'migration.html'],
  ['verify stripe signature', 'webhook-responses.html'],
  ['DNSBL_SERVERS', 'configuration.html'],
  ['rate limit', 'limits.html'],
  ['invite a member', 'workspaces.html'],
  ['get delisted', 'scoring.html'],
]

describe('the guide', () => {
  it('has every page of docs/, with a title and contents', () => {
    const sources = globSync('docs/**/*.md', { cwd: ROOT }).map((name) =>
      name.replaceAll('\\', '/'),
    )
    expect(docs.map(({ source }) => source).toSorted()).toEqual(sources.toSorted())
    for (const { source, title, html } of docs) {
      expect(title, source).not.toBe(source)
      expect(html, source).toContain('<p>')
    }
  })

  it('has links that lead to pages, headings and files', () => {
    const broken = pages.flatMap(({ source, url, html }) =>
      [...html.matchAll(/(?:href|src)="([^"]*)"/g)]
        .map(([, to = '']) => to)
        .filter((to) => !/^(?:https?|mailto):/.test(to) && !isThere(url, to))
        .map((to) => `${source} → ${to}`),
    )
    expect(broken).toEqual([])
    expect(isThere('dmarc.html', 'dmarc.html#nowhere')).toBe(false)
    expect(isThere('dmarc.html', 'nowhere.html')).toBe(false)
  })

  function isThere(from: string, to: string): boolean {
    const [path = '', anchor] = to.split('#', 2)
    const target = byUrl.get(path === '' ? from : posix.join(posix.dirname(from), path))
    return (
      target !== undefined &&
      (anchor === undefined || target.headings.some(({ id }) => id === anchor))
    )
  }

  it('has links in all documents of the repository that lead to files and headings', () => {
    // Pages show only links to pages of the guide.
    const broken = pages
      .filter(({ source }) => source.endsWith('.md'))
      .flatMap(({ source }) =>
        [...readFileSync(join(ROOT, source), 'utf8').matchAll(/\]\(([^)\s#:]+)(?:#[^)\s]*)?\)/g)]
          .map(([, to = '']) => posix.join(posix.dirname(source), to))
          .filter((file) => !existsSync(join(ROOT, file)))
          .map((file) => `${source} → ${file}`),
      )
    expect(broken).toEqual([])
  })

  it('has the pages and headings that the service and the dashboard link to', () => {
    const links = /(?:\/docs\/guide\/|inGuide\('|^  \['\/[\w/]+', ')([\w-]+\.html(?:#[\w-]+)?)/gm
    const linked = globSync(['src/**/*.ts', 'web/src/**/*.{ts,tsx}'], { cwd: ROOT }).flatMap(
      (file) =>
        [...readFileSync(join(ROOT, file), 'utf8').matchAll(links)].map(([, to = '']) => to),
    )
    expect(linked.length).toBeGreaterThan(30)
    expect(linked.filter((to) => !isThere('index.html', to))).toEqual([])
  })

  it('lists every page on its first page', () => {
    const linked = [...(byUrl.get('index.html')?.html ?? '').matchAll(/href="([^"]*)"/g)].map(
      ([, to = '']) => to,
    )
    const missing = docs
      .map(({ url }) => url)
      .filter(
        (url) => url !== 'index.html' && !url.startsWith('channels/') && !linked.includes(url),
      )
    expect(missing).toEqual([])
  })

  it.each(QUESTIONS)('answers “%s”', (question, page) => {
    const found = findSections(
      question,
      docs.flatMap(({ sections }) => sections),
    )
    expect(found.map(({ url }) => url.split('#')[0])).toContain(page)
  })

  it.each([
    ['a-lost-key', 'secret-key.html#a-lost-key'],
    ['back-up-continuously', 'backups.html#back-up-continuously'],
    ['backups', 'backups.html'],
    ['changing-secret_key', 'secret-key.html#changing-secret_key'],
    ['resolvers', 'resolvers.html'],
    ['troubleshooting', undefined],
  ])('leads from operations.html#%s, where it was, to %s', (id, url) => {
    const sections = docs.flatMap((page) => page.sections)
    expect(findMoved(id, sections)?.url).toBe(url)
  })

  it('finds nothing for nonsense', () => {
    const sections = docs.flatMap((page) => page.sections)
    expect(findSections('xyzzyplugh', sections)).toEqual([])
    expect(findSections('  ', sections)).toEqual([])
  })
})

describe('the reference pages', () => {
  it('are what `npm run reference` writes', async () => {
    for (const [path, page] of await referencePages())
      expect(readFileSync(join(ROOT, path), 'utf8'), path).toBe(page)
  })

  it('name every kind of alert', () => {
    const raised = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\bkind: '([a-z]+\.[a-z_-]+)'/g)].map(
        ([, kind = '']) => kind,
      ),
    )
    expect(raised.length).toBeGreaterThan(30)
    expect(raised.filter((kind) => !(kind in ALERT_KINDS))).toEqual([])
  })
})
