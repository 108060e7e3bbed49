#pragma once
namespace store {

template <typename T>
class Store : public Base {
public:
    explicit Store(int limit) : limit_(limit) {}
    [[nodiscard]] T get(const std::string& key) const;

    // Removes all.
    void clear() {
        rows_.clear();
    }
private:
    int limit_;
};

void Store::free() {
}

}  // namespace store
