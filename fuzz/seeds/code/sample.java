package store;

import java.util.Map;

/** A store. */
@Deprecated
public final class Store<T> implements Base {
    private final Map<String, T> rows = Map.of();

    public Store(int limit) {
        this.limit = limit;
    }

    /** Reads. */
    @Override
    public T get(String key) throws IOException {
        return rows.get("}" + '}');
    }

    abstract void none();
}
