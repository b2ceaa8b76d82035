// `npm run wasm`: assembles src/migration/files/formats/bare-ends.wat.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import wabt from 'wabt'

const FOLDER = join(import.meta.dirname, '..', 'src', 'migration', 'files', 'formats')
export const MODULE_FILE = join(FOLDER, 'bare-ends-wasm.ts')

/** Assembles the module. Returns the text of the file that has it. */
export async function assemble(): Promise<string> {
  const assembler = await wabt()
  const source = readFileSync(join(FOLDER, 'bare-ends.wat'), 'utf8')
  const { buffer } = assembler
    .parseWat('bare-ends.wat', source, { threads: true, simd: true })
    .toBinary({})
  const lines =
    Buffer.from(buffer)
      .toString('base64')
      .match(/.{1,90}/g) ?? []
  return `// Written by \`npm run wasm\` from bare-ends.wat.\nexport const BARE_ENDS_WASM =\n${lines.map((line) => `  '${line}'`).join(' +\n')}\n`
}

if (import.meta.main) writeFileSync(MODULE_FILE, await assemble())
