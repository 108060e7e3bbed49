import { x } from "./x";

const limit = 3;

/**
 * A point.
 */
export interface Point {
  x: number;
}

export const add = async (a: number, b: number) => {
  return `${a} } ${b}`.replace(/["'`{]/g, "");
};

@component({ name: "store" })
export default class Store<T> extends Base {
  private rows = new Map<string, T>();

  constructor(readonly limit: number) {
    super();
    if (limit) { this.clear(); }
  }

  // Reads one.
  get(key: string): T | undefined {
    return this.rows.get(key);
  }
}
add(1, 2).then(() => {
  done();
});
function last() {}
