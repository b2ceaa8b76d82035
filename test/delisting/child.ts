// Runs an instance in a separate process, which is killed while it sends an email.
import { startDelisting } from './module.ts'

const [databaseUrl = '', lists = '', dns = '', smtpUrl = '', now = ''] = process.argv.slice(2)
const endpoint = (port: string) => ({ address: '127.0.0.1', port: Number(port) })
const clock = { now: new Date(now) }
const portreeve = await startDelisting({
  databaseUrl,
  lists: endpoint(lists),
  dns: endpoint(dns),
  smtpUrl,
  clock,
})
await portreeve.tend()
