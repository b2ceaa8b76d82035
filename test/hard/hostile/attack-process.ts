// One attack in a process of its own, so that the process that measures has nothing else to do:
//   node attack-process.ts '{"what": …, "attacker": …}'
// It goes on until standard input ends.
import { once } from 'node:events'
import { ATTACKS, type Attacker } from './account.ts'

const { what, attacker } = JSON.parse(process.argv[2] ?? '{}') as {
  what: string
  attacker: Attacker
}
const attack = await ATTACKS[what]?.(attacker)
process.stdout.write('started\n')
process.stdin.resume()
await once(process.stdin, 'end')
await attack?.stop()
process.exit(0)
