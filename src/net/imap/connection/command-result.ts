import type { ResponseCode } from './response.ts'

/** The tagged response to a command. */
export type CommandResult = { status: 'OK' | 'NO' | 'BAD'; code: ResponseCode | null; text: string }
