import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../fixtures/threat-intelligence')

const ajv = new Ajv2020({ allErrors: true, strict: false, unicodeRegExp: false })
addFormats.default(ajv)

type Schema = { $id: string }

const readSchema = (file: string) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Schema

const stix = globSync('stix/*/*.json', { cwd: FOLDER }).map(readSchema)
ajv.addSchema(stix)

/** What OASIS’s schema of STIX 2.1 says against an object; empty when it is valid. */
export function stixErrors(object: { type: string }): string[] {
  const schema = stix.find(({ $id }) => $id.endsWith(`/sdos/${object.type}.json`))
  return schema ? errorsOf(ajv.getSchema(schema.$id), object) : [`no schema of ${object.type}`]
}

// Written for an earlier JSON Schema, from which it uses nothing that has changed.
const { $schema: _, id: __, ...mispEvent } = readSchema('misp/event.json') as Schema & { $schema: string; id: string } // prettier-ignore
const isMispEvent = ajv.compile(mispEvent)

/** What MISP’s own schema of events says against one. */
export const mispErrors = (event: unknown): string[] => errorsOf(isMispEvent, event)

function errorsOf(validate: ValidateFunction | undefined, value: unknown): string[] {
  if (!validate) return ['no schema']
  validate(value)
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}
