// `npm run man`: writes man/portreeve.1 from the table of commands and the settings.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT as COMMANDS } from '../src/cli/commands.ts'
import { manPage } from '../src/cli/help/man-page.ts'
import { VERSION } from '../src/version.ts'
import { ROOT } from './run.ts'

mkdirSync(join(ROOT, 'man'), { recursive: true })
writeFileSync(join(ROOT, 'man', 'portreeve.1'), manPage(COMMANDS, VERSION))
