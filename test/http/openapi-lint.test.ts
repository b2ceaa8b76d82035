import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { describe, expect, it } from 'vitest'

const source = readFileSync('openapi.json', 'utf8')

describe('openapi.json', () => {
  it('passes the recommended rules of Redocly', async () => {
    const found = await lint(source)
    expect(found).toEqual([])
  }, 60_000)

  it('passes the recommended rules of Spectral', async () => {
    const found = await inspect(source)
    expect(found).toEqual([])
  }, 60_000)

  it('fails both when it is wrong', async () => {
    const { paths, ...rest } = JSON.parse(source) as { paths: Record<string, object> }
    const broken = JSON.stringify({
      ...rest,
      paths: { ...paths, '/more/{id}': { get: { responses: {} } } },
    })
    expect((await lint(broken)).join('\n')).toContain('path-parameters-defined')
    expect((await inspect(broken)).join('\n')).toContain('operation-operationId')
  }, 60_000)
})

/** The ids of endpoints are UUIDs, which `by-name` is not. */
const NOT_AMBIGUOUS =
  /^no-ambiguous-paths: .* `\/api\/webhook\/endpoints\/by-name\/\{name\}` and `\/api\/webhook\/endpoints\/\{id\}\//

async function lint(text: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
  return problems
    .map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)
    .filter((problem) => !NOT_AMBIGUOUS.test(problem))
}

async function inspect(text: string): Promise<string[]> {
  const inspector = new spectral.Spectral()
  inspector.setRuleset(new spectral.Ruleset({ extends: [[rulesets.oas, 'recommended']] }))
  const problems = await inspector.run(JSON.parse(text) as Record<string, unknown>)
  return problems.map(({ code, message, path }) => `${code}: ${message} ${path.join('.')}`)
}
