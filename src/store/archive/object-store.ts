import type { Readable } from 'node:stream'

/** An object of the archive: its key, with slashes, and its size. */
export type StoredObject = { key: string; bytes: number }

/**
 * Where the archive is. An object appears completely or not at all, is durable when the call
 * returns, and never replaces another.
 */
export type ObjectStore = {
  /** For messages: a folder or `s3://bucket/prefix`. */
  name: string
  /** Objects whose key begins with `prefix`, sorted by key. */
  list(prefix: string): Promise<StoredObject[]>
  /** Names directly below the root that contain objects, sorted. */
  listFolders(): Promise<string[]>
  /** Stores an object; false when the key exists, whose object stays. */
  create(key: string, body: Uint8Array): Promise<boolean>
  /** Stores an object of any size. @returns its size in bytes */
  write(key: string, body: Readable): Promise<number>
  /** @throws an error with the code ENOENT when there is no such object */
  read(key: string): Promise<Readable>
  remove(keys: string[]): Promise<void>
}
