import { startRoom } from './room.ts'

/** Another instance, to be killed: it says where it listens, and runs until then. */
const room = await startRoom(process.argv[2] ?? '')
console.log(room.url)
