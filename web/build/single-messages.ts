import { readFileSync } from 'node:fs'
import type { Plugin } from 'vite'

/** `import { a, b as c } from '../messages.ts'` */
const IMPORT = /^import \{([^}]+)\} from '([^']*\/messages\.ts)'$/gm

const ONLY = '?only='

/**
 * Makes each export of a `messages.ts` a module of its own, so that a screen loads the texts that it
 * shows and not those of all screens of its folder.
 */
export function singleMessages(): Plugin {
  return {
    name: 'single-messages',
    apply: 'build',
    enforce: 'pre',
    load(id) {
      const [file = '', only] = id.split(ONLY)
      if (only === undefined) return null
      // What is not exported and not used by the one export is left out by the bundler.
      const code = readFileSync(file, 'utf8').replaceAll(
        /^export ((?:const|function) (\w+))/gm,
        (statement, declaration: string, name: string) => (name === only ? statement : declaration),
      )
      return { code, moduleType: 'ts' }
    },
    transform(code, id) {
      if (!/\.tsx?(?:\?|$)/.test(id)) return null
      return code.replaceAll(IMPORT, (_statement, names: string, file: string) =>
        names
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== '')
          .map((name) => `import { ${name} } from '${file}${ONLY}${name.split(' ')[0]}'`)
          .join('\n'),
      )
    },
  }
}
