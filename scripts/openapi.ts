// `npm run openapi`: writes openapi.json as a running service answers it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { createLog } from '../src/log.ts'
import { formattedJson } from './formatted.ts'
import { ROOT } from './run.ts'

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-openapi-'))
  const service = await startService(
    readConfig({ DATA_DIR: folder, PORT: '0', SMTP_LISTEN: 'off' }),
    createLog('warn'),
  )
  const response = await fetch(new URL('/openapi.json', service.url))
  if (!response.ok)
    throw new Error(`/openapi.json answered ${response.status}; the log above says why`)
  writeFileSync(join(ROOT, 'openapi.json'), await formattedJson(await response.json()))
  await service.stop()
  rmSync(folder, { recursive: true })
}
